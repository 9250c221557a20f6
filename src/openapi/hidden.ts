/**
 * What a role's document leaves out beside the fields that the role hides (D90): what else names them. Pure.
 */
import type { Catalog } from '../fields/catalog.ts'
import type { Schema } from '../fields/field.ts'

/** The resources whose fields the members of reports are: the first that has a field of the name. */
const reports: { readonly [shape: string]: readonly string[] } = {
  aggregate_group: ['deal'],
  board_stage: ['pipeline_stage', 'deal'],
  funnel_stage: ['pipeline_stage'],
}

/** The shapes, without the members of reports that show hidden fields. */
export function seenShapes(
  shapes: { readonly [name: string]: Schema },
  { resources }: Catalog,
): { readonly [name: string]: Schema } {
  const seen = Object.entries(reports).map(([shape, owners]) => {
    const fieldOf = (name: string) =>
      owners.map(owner => resources.get(owner)!.byName.get(name)).find(field => field)
    const isSeen = ([name]: [string, unknown]) =>
      !(fieldOf(name) ?? fieldOf(name.replace('_in_base_currency', '')))?.is_hidden
    const { properties, ...rest } = shapes[shape]!
    return [shape, { ...rest, properties: Object.fromEntries(Object.entries(properties!).filter(isSeen)) }]
  })
  return { ...shapes, ...Object.fromEntries(seen) }
}

/**
 * For JSON.stringify: descriptions without the sentences that name a field which is hidden wherever there is
 * one of its name. A name of one word is taken for that word, unless it stands as it does in a query.
 */
export function unsaid(catalog: Catalog): ((key: string, value: unknown) => unknown) | undefined {
  const names = hiddenNames(catalog).map(name =>
    name.includes('_') ? name : `(?:(?<=:)${name}|${name}(?=:))`,
  )
  if (names.length === 0) return undefined
  const hidden = new RegExp(`\\b(?:${names.join('|')})\\b`)
  return (key, value) => {
    if (key !== 'description' || typeof value !== 'string' || !hidden.test(value)) return value
    const seen = value.split(/(?<=\.) /).filter(sentence => !hidden.test(sentence))
    return seen.join(' ') || undefined
  }
}

/** The names of fields that are hidden, and are those of nothing else. */
function hiddenNames({ resources }: Catalog): string[] {
  const all = [...resources.values()].flatMap(({ fields }) => fields)
  const shown = new Set(all.filter(field => !field.is_hidden).map(field => field.internal_name))
  const names = all.filter(field => field.is_hidden).map(field => field.internal_name)
  return [...new Set(names)].filter(name => !shown.has(name) && !resources.has(name))
}
