/**
 * The columns of other systems' exports, and their targets here, from templates.json. For guesses only. No
 * system publishes a full list: these are the names of default fields in English, of Google Contacts those
 * before and since 2024, of LinkedIn those of connections. Those of Pipedrive are from its sample sheets
 * ("READ ME All default Pipedrive fields") and from exports that others read. Exports in other languages
 * differ, and a name may have several spellings.
 */
import columns from './templates.json' with { type: 'json' }

/** Column → target, as in `targetsOf`; null: no field here. */
export type Template = { readonly [column: string]: string | null }

export type System = keyof typeof columns

/** System → resource → its columns. The first system with the most columns of a file wins. */
export const templates: { readonly [system in System]: { readonly [resource: string]: Template } } = columns
