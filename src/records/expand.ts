/**
 * `expand` (D11): the names behind a record's ids, as a sibling `_expanded`. Options come from the catalog,
 * related records from their tables, all in one statement.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import { storedRow } from '../fields/columns.ts'
import type { Field } from '../fields/field.ts'
import { shownName } from '../fields/kinds/reference.ts'
import { kinds } from '../fields/kinds.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { namingField } from './names.ts'
import type { Reader } from './store.ts'

/** field → id → its name */
export type NamesByField = ReadonlyMap<Field, ReadonlyMap<number, Named>>
type Named = { readonly id: number; readonly name: string }

/** True if the field's values are ids that have names: options and related records. */
export function isExpandable(field: Field): boolean {
  return hasOptions(field) || field.related !== null
}

/** A record's JSON text with `_expanded` for the fields of `expand`. */
export async function expandedRecord(
  db: Reader,
  caller: Caller,
  record: string,
  expand: readonly Field[],
): Promise<string> {
  if (expand.length === 0) return record
  const parsed = parseJson(record) as JsonObject
  return JSON.stringify({
    ...parsed,
    _expanded: expanded(parsed, expand, await namesOf(db, caller, [parsed], expand)),
  })
}

/**
 * `_expanded` of a record: for each field of `expand` {id, name}, or an array of them where the value is an
 * array.
 */
export function expanded(record: JsonObject, expand: readonly Field[], names: NamesByField): JsonObject {
  const one = (field: Field, id: Json) => names.get(field)?.get(Number(id)) ?? null
  return Object.fromEntries(
    expand.map((field): [string, Json] => {
      const value = record[field.internal_name] ?? null
      return [field.internal_name, Array.isArray(value) ? value.map(id => one(field, id)) : one(field, value)]
    }),
  )
}

/**
 * The names behind the ids that `records` have in the fields of `expand`, as far as the caller sees them.
 * `isTelling` prefers names that identify a record (D75), such as a contact's e-mail.
 */
export async function namesOf(
  db: Reader,
  caller: Caller,
  records: readonly JsonObject[],
  expand: readonly Field[],
  isTelling = false,
): Promise<NamesByField> {
  const values = expand.map((field): [Field, Json[]] => [
    field,
    records.map(record => record[field.internal_name] ?? []),
  ])
  return namesBehind(db, caller, new Map(values), isTelling)
}

/**
 * The names behind the ids of these fields, as far as the caller sees them; deleted records have names, too.
 * A value is an id, an array of ids, or null.
 */
export async function namesBehind(
  db: Reader,
  caller: Caller,
  values: ReadonlyMap<Field, readonly Json[]>,
  isTelling = false,
): Promise<NamesByField> {
  const names = new Map<Field, Map<number, Named>>()
  const wanted = new Map<string, Wanted>()
  for (const [field, given] of values) {
    const options = hasOptions(field) ? field.options : []
    const known = new Map(options.map(({ id, name }) => [id, { id, name }]))
    names.set(field, known)
    if (!field.related) continue
    const { ids } = wanted.get(field.related) ?? { ids: new Set() }
    for (const value of given)
      for (const id of [value ?? []].flat()) if (!known.has(Number(id))) ids.add(Number(id))
    if (ids.size > 0) {
      const shown = shownName(field, sql`x.`)
      const name = isTelling ? tellingName(caller.catalog.resources.get(field.related)!, shown) : shown
      wanted.set(field.related, { shown: name, ids })
    }
  }
  if (wanted.size === 0) return names
  const related = await relatedNames(db, caller, wanted)
  for (const [field, known] of names)
    for (const { id, name } of related.get(field.related!) ?? [])
      known.set(Number(id), { id: Number(id), name: name! })
  return names
}

/** SQL of the name that identifies the row `x`; of its shown name, if it has no other. */
function tellingName(schema: ResourceSchema, shown: Sql): Sql {
  const { shownAs, namedBy = [] } = schema.resource
  const field = namedBy.map(name => namingField(schema, name)).find(one => one !== null)
  if (!field || namedBy.some(name => shownAs.includes(name))) return shown
  const { multi, sql: value } = kinds[field.type].term(field, kinds[field.type].unique!.member)!
  const own = value(storedRow(sql`x`))
  return sql`coalesce(${multi ? sql`(${own})[1]` : own}, ${shown})`
}

/** Records of a resource to look up: the SQL of a name, and their ids. */
type Wanted = { readonly shown: Sql; readonly ids: Set<number> }

/** The rows of these records, by their resource: id and name. */
async function relatedNames(db: Reader, caller: Caller, wanted: ReadonlyMap<string, Wanted>) {
  const resources = [...wanted.keys()].sort()
  const params = callerParamsOf(caller)
  const selects = resources.map(resource => {
    const ids = `{${[...wanted.get(resource)!.ids].join(',')}}`
    const name = wanted.get(resource)!.shown
    return sql`SELECT ${sql.text(resource)} AS resource, x.id::text AS id, ${name} AS name
FROM ${sql.id(resource)} x WHERE ${visible(resource, params, sql`x`)} AND x.id = ANY(${ids}::bigint[])`
  })
  return Map.groupBy(await ask(db, sql.join(selects, sql`\nUNION ALL\n`)), ({ resource }) => resource!)
}

export function hasOptions(field: Field): boolean {
  return kinds[field.type].hasOptions === true
}
