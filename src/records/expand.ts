/**
 * `expand` (D11): the names behind a record's ids, as a sibling `_expanded`. Options come from the catalog, related records from their
 * tables, all in one statement.
 */
import { type Field, identifier } from '../fields/field.ts'
import { shownName } from '../fields/kinds/reference.ts'
import { kinds } from '../fields/kinds.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import type { Queryable } from './store.ts'

type Named = { readonly id: number; readonly name: string }

/** Whether a field's values are ids with names: options and related records. */
export function isExpandable(field: Field): boolean {
  return hasOptions(field) || field.related !== null
}

/** Records separated by commas, each with `_expanded`: {id, name} for each of `expand`, an array of them where the value is one. */
export async function expandedList(db: Queryable, account: number, records: string, expand: readonly Field[]): Promise<string> {
  if (expand.length === 0 || records === '') return records
  const parsed = parseJson(`[${records}]`) as JsonObject[]
  const names = await namesOf(db, account, parsed, expand)
  const one = (field: Field, id: Json) => names.get(field)?.get(Number(id)) ?? null
  for (const record of parsed) {
    record._expanded = Object.fromEntries(
      expand.map((field): [string, Json] => {
        const value = record[field.internal_name] ?? null
        return [field.internal_name, Array.isArray(value) ? value.map(id => one(field, id)) : one(field, value)]
      }),
    )
  }
  return JSON.stringify(parsed).slice(1, -1)
}

/** The names behind the ids that `records` have in the fields of `expand`: field → id → {id, name}. */
export async function namesOf(
  db: Queryable,
  account: number,
  records: readonly JsonObject[],
  expand: readonly Field[],
): Promise<Map<Field, Map<number, Named>>> {
  const names = new Map<Field, Map<number, Named>>()
  const wanted = new Map<string, Set<number>>()
  for (const field of expand) {
    if (hasOptions(field)) {
      names.set(field, new Map(field.options.map(({ id, name }) => [id, { id, name }])))
      continue
    }
    const ids = wanted.get(field.related!) ?? new Set()
    wanted.set(field.related!, ids)
    for (const record of records) for (const id of [record[field.internal_name] ?? []].flat()) ids.add(Number(id))
  }
  if (wanted.size === 0) return names
  const related = await relatedNames(db, account, wanted)
  for (const field of expand) if (!names.has(field)) names.set(field, related.get(field.related!)!)
  return names
}

async function relatedNames(
  db: Queryable,
  account: number,
  wanted: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<Map<string, Map<number, Named>>> {
  const resources = [...wanted.keys()].sort()
  const selects = resources.map(
    (resource, index) =>
      `SELECT '${resource}' AS resource, x.id::text AS id, ${shownName(resource, 'x')} AS name FROM ${identifier(resource)} x ` +
      `WHERE x.account_id = $1::bigint AND x.id = ANY($${index + 2}::bigint[])`,
  )
  const ids = resources.map(resource => `{${[...wanted.get(resource)!].join(',')}}`)
  const found = new Map(resources.map(resource => [resource, new Map<number, Named>()]))
  for (const { resource, id, name } of await db.query(selects.join(' UNION ALL '), [String(account), ...ids])) {
    found.get(resource!)!.set(Number(id), { id: Number(id), name: name! })
  }
  return found
}

function hasOptions(field: Field): boolean {
  return kinds[field.type].hasOptions === true
}
