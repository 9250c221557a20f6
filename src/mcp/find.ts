/** Finds the record that an agent names: by its id, or by the name under which it is shown (D146). */
import { printFilter } from '../../client/src/filter.ts'
import { dateIn } from '../fields/iso8601.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { Api } from './api.ts'
import { type Filters, filtersOf, nameKey, type UnknownName } from './conditions.ts'
import { ToolRefusal } from './refusal.ts'
import { fieldParameters, nameOf, seenFields } from './rows.ts'
import { callText, schemaOf } from './tool.ts'

/** The id of a record. Throws ToolRefusal if no record is meant, or several. */
export async function recordNamed(api: Api, resource: string, given: Json): Promise<number> {
  const text = String(given).trim()
  const [, id] = /^#?(\d{1,15})$/.exec(text) ?? []
  if (id) return Number(id)
  const found = await candidates(api, resource, text)
  const same = found.filter(({ name }) => name.toLowerCase() === text.toLowerCase())
  const meant = same.length ? same : found
  if (meant.length === 1) return meant[0]!.id
  const shown = meant.slice(0, candidatesMax)
  throw new ToolRefusal(
    meant.length
      ? `${meant.length === shown.length ? '' : 'At least '}${shown.length} records of ${resource} may be meant: say which by its id.`
      : `There is no ${resource} of that name.`,
    shown.map(({ id, name, detail }) => ({ at: String(id), message: detail ? `${name} (${detail})` : name })),
    meant.length
      ? undefined
      : schemaOf(api, resource).resource.searched
        ? `${callText('search', { text: text.slice(0, 60) })} with fewer or other words, or list with conditions`
        : callText('list', { resource }),
  )
}

const candidatesMax = 8

type Candidate = { readonly id: number; readonly name: string; readonly detail: string | null }

/** Records with such a name; the searched ones by search, others by their name. */
async function candidates(api: Api, resource: string, text: string): Promise<Candidate[]> {
  const schema = schemaOf(api, resource)
  // The search leaves out what may not be read, as if nobody had the name.
  api.caller.rights.need(`${resource}:read`)
  if (schema.resource.searched) {
    const { data } = await api.call({
      operation: 'search',
      query: { q: text.slice(0, 200), resources: resource, pageSize: String(candidatesMax + 1) },
    })
    return data as unknown as Candidate[]
  }
  const { shownAs, namedBy = shownAs } = schema.resource
  const values = [text.slice(0, 200).replaceAll(/[()]/g, ' ')]
  const named = (field: string) =>
    ({ type: 'condition', field, operator: shownAs.includes(field) ? 'like' : 'eq', values }) as const
  const seen = new Set(seenFields(schema).map(field => field.internal_name))
  const names = [...new Set([...shownAs, ...namedBy])].filter(name => seen.has(name))
  const { data } = await api.call({
    operation: `${resource}_search`,
    body: {
      filter: printFilter([{ type: 'or', of: names.map(named) }]),
      pageSize: candidatesMax + 1,
      ...fieldParameters([], schema, api.caller.rights),
    },
  })
  return (data as JsonObject[]).map(record => ({
    id: Number(record.id),
    name: nameOf(record, schema),
    detail: null,
  }))
}

/** The names in one request that stand for records are at most so many. */
const namesMax = 10

/** Conditions in words as filters, with the records that names in them mean. */
export async function filtersFor(
  api: Api,
  resource: string,
  conditions: readonly string[],
): Promise<Filters> {
  const { catalog, actor } = api.caller
  const today = dateIn(catalog.account.time_zone, api.now)!
  const context = { schema: schemaOf(api, resource), catalog, actor, today }
  const first = filtersOf(conditions, { ...context, ids: new Map() })
  if (first.unknown.length === 0) return first
  return filtersOf(conditions, { ...context, ids: await idsOf(api, first.unknown) })
}

export async function idsOf(api: Api, names: readonly UnknownName[]): Promise<Map<string, number>> {
  const all = new Map(names.map(one => [nameKey(one), one]))
  if (all.size > namesMax) throw new ToolRefusal(`A request has at most ${namesMax} names of records.`)
  const ids = new Map<string, number>()
  for (const [key, { resource, name }] of all) ids.set(key, await recordNamed(api, resource, name))
  return ids
}

export function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []
}

export function itemsOf({ data }: JsonObject): JsonObject[] {
  return Array.isArray(data) ? data.filter(isObject) : []
}
