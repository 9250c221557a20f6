/**
 * Removes what a role must not see from its document, beside the hidden fields themselves (D90): other
 * mentions of them. Pure.
 */
import type { Catalog } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { fieldOwners } from '../../fields/kinds/schemas.ts'

/** The second argument of JSON.stringify. */
export type Replacer = (this: unknown, key: string, value: unknown) => unknown

/**
 * For JSON.stringify: removes members of responses that are hidden fields, and sentences of descriptions that
 * name a field which is hidden in every resource that has it. A field name of one word counts as an ordinary
 * word, except in the form that it has in a query. Undefined if no field is hidden.
 */
export function withoutHidden(catalog: Catalog): Replacer | undefined {
  const all = [...catalog.resources.values()].flatMap(({ fields }) => fields)
  if (!all.some(field => field.is_hidden)) return undefined
  const names = hiddenNames(catalog).map(name =>
    name.includes('_') ? name : `(?:(?<=:)${name}|${name}(?=:))`,
  )
  const hidden = names.length ? new RegExp(`\\b(?:${names.join('|')})\\b`) : null
  return function (key, value) {
    const owners =
      key === 'properties' && (this as Schema & { [fieldOwners]?: readonly string[] })[fieldOwners]
    if (owners) return shownMembers(value as Schema, owners, catalog)
    if (key !== 'description' || typeof value !== 'string' || !hidden?.test(value)) return value
    const shown = value.split(/(?<=\.) /).filter(sentence => !hidden.test(sentence))
    return shown.join(' ') || undefined
  }
}

/** The members of a response without hidden fields of the owners, and without sums of such fields. */
function shownMembers(members: Schema, owners: readonly string[], { resources }: Catalog): Schema {
  const fieldOf = (name: string) =>
    owners.map(owner => resources.get(owner)!.byName.get(name)).find(field => field)
  const isShown = ([name]: [string, unknown]) =>
    !(fieldOf(name) ?? fieldOf(name.replace('_in_base_currency', '')))?.is_hidden
  return Object.fromEntries(Object.entries(members).filter(isShown))
}

/** The names that only hidden fields have. */
function hiddenNames({ resources }: Catalog): string[] {
  const all = [...resources.values()].flatMap(({ fields }) => fields)
  const shown = new Set(all.filter(field => !field.is_hidden).map(field => field.internal_name))
  const names = all.filter(field => field.is_hidden).map(field => field.internal_name)
  return [...new Set(names)].filter(name => !shown.has(name) && !resources.has(name))
}
