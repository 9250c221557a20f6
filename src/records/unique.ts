/**
 * Unique fields (D76). The table `unique_value` has the key of each value that a live record has in one.
 * Every write adds and removes its own keys, and the table's primary key refuses a duplicate. A field whose
 * uniqueness the schema enforces has an index instead. Knows no particular resource.
 */
import { isTaken } from '../db/constraint.ts'
import { memberProblem, type Problem, Refusal } from '../errors.ts'
import type { CallerParams, Step, WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { storedRow } from '../fields/columns.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { isSameJson } from '../json.ts'
import { type Caller, callerParamsOf, visible } from '../rights/visibility.ts'
import { ask, param, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import { hiddenProblem, isHiddenByRole } from './rendered-record.ts'
import { changeColumns, isMoved, type Reader, type RecordToWrite } from './store.ts'
import type { ReadWork } from './work.ts'

/** True if the values of a field are stored as keys. */
export function hasKeys(field: Field): boolean {
  return field.is_unique && !field.is_unique_by_index
}

export const fieldsWithKeys = memoize(({ whole }: ResourceSchema): readonly Field[] =>
  whole.fields.filter(hasKeys),
)

/** Inserts the keys of the new or restored rows of a step. */
export function newKeys(schema: ResourceSchema, step: string): Step[] {
  const all = fieldsWithKeys(schema)
  return all.length ? [{ name: `${step}_keys`, change: keysOfRows(sql.id(step), all) }] : []
}

/** Deletes the keys of the deleted rows of a step. */
export function freedKeys({ account }: WriteParams, schema: ResourceSchema, step: string): Step[] {
  const all = fieldsWithKeys(schema)
  if (all.length === 0) return []
  const change = sql`
  DELETE FROM unique_value u USING ${sql.id(step)} x
  WHERE u.account_id = ${account}::bigint AND u.record = x.id AND u.field = ANY(${idsOf(all)}::bigint[])
`
  return [{ name: `${step}_keys`, change }]
}

/** Deletes the keys that the changed record of the step `r` no longer has, and inserts its new ones. */
export function changedKeys(params: WriteParams, schema: ResourceSchema, { changes }: RecordToWrite): Step[] {
  const changed = fieldsWithKeys(schema).filter(({ internal_name: name }) => name in changes)
  if (changed.length === 0) return []
  const isOwn = sql`u.account_id = ${params.account}::bigint AND u.record = x.id`
  const isSame = sql`u.field = k.field AND u.key = k.key`
  const freed = sql`
  DELETE FROM unique_value u USING r x
  WHERE ${isOwn} AND u.field = ANY(${idsOf(changed)}::bigint[])
    AND NOT EXISTS (SELECT 1 FROM (${storedKeys(changed)}) k WHERE ${isSame})
`
  const isNew = sql`NOT EXISTS (SELECT 1 FROM unique_value u WHERE ${isOwn} AND ${isSame})`
  return [
    { name: 'freed', change: freed },
    { name: 'taken', change: keysOfRows(sql`r`, changed, isNew) },
  ]
}

/** An INSERT of the keys `k` that the rows `x` of `r` have in these fields. */
export function keysOfRows(r: Sql, fields: readonly Field[], where: Sql = sql`true`): Sql {
  return sql`
  INSERT INTO unique_value (account_id, field, key, record)
  SELECT x.account_id, k.field, k.key, x.id FROM ${r} x, LATERAL (${storedKeys(fields)}) k WHERE ${where}
`
}

/** SELECT of the distinct keys of the row `x`: field, key. */
export function storedKeys(fields: readonly Field[]): Sql {
  const row = storedRow(sql`x`)
  const selects = fields.map(field => {
    const { member, key } = kinds[field.type].unique!
    const { multi, sql: value } = kinds[field.type].term(field, member)!
    const texts = multi ? sql`unnest(${value(row)})` : sql`(SELECT (${value(row)})::text)`
    // OFFSET keeps the database from computing each key twice.
    return sql`SELECT DISTINCT ${sql.integer(field.id)}::bigint AS field, t.key FROM (
      SELECT ${key(sql`t.text`, field)} AS key FROM ${texts} t (text) WHERE t.text IS NOT NULL OFFSET 0) t
    WHERE t.key <> ''`
  })
  return sql.join(selects, sql`\n    UNION ALL `)
}

/** A record that may clash: as it would be saved, as stored (null if new), and its path in the body. */
export type Candidate = {
  readonly schema: ResourceSchema
  readonly after: Values
  readonly before: Values | null
  readonly path: string
}

/** The values of a unique field that a record would have, by the form that is compared. */
export function comparedTexts(
  { after }: { readonly after: Values },
  field: Field,
): ReadonlyMap<string, string> {
  const { texts, compared } = kinds[field.type].unique!
  return new Map(texts(after[field.internal_name] ?? null).map(text => [compared(text, field), text]))
}

/**
 * The problems of values that other live records have, with the holder's id only if the caller sees it, and
 * of those that an earlier candidate has.
 */
export async function clashesOf(
  db: Reader,
  caller: Caller,
  candidates: readonly Candidate[],
): Promise<Problem[]> {
  const all = candidates.flatMap(({ schema, after, before, path }) =>
    fieldsWithKeys(schema)
      .filter(({ internal_name: name }) => !before || !isSameJson(before[name] ?? null, after[name] ?? null))
      .filter(field => comparedTexts({ after }, field).size > 0)
      .map(field => ({ schema, field, after, path, id: before ? String(before.id) : null })),
  )
  const params = callerParamsOf(caller)
  const selects = all.map(({ schema, field, after, id }, place) => {
    const { name } = schema.resource
    const texts = kinds[field.type].unique!.texts(after[field.internal_name] ?? null)
    return sql`SELECT ${sql.text(String(place))} AS place, min(r.id)::text AS holder
  FROM jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) t (text),
    LATERAL (${holders(params, schema, field, sql`t.text`)}) h LEFT JOIN ${sql.id(name)} r
    ON ${visible(name, params, sql`r`)} AND r.id = h.id
  WHERE h.id IS DISTINCT FROM ${id}::bigint HAVING count(*) > 0`
  })
  const rows = selects.length ? await ask(db, sql.join(selects, sql`\nUNION ALL\n`)) : []
  const held = rows.map(({ place, holder }) => {
    const { schema, field, path } = all[Number(place)]!
    return clash(schema, field, path, holder ?? null)
  })
  const seen = new Set<string>()
  const places = new Set(rows.map(({ place }) => Number(place)))
  const doubles = all.filter((one, place) => {
    const texts = new Set([...comparedTexts(one, one.field).keys()].map(text => `${one.field.id} ${text}`))
    const isDouble = [...texts].some(text => seen.has(text))
    for (const text of texts) seen.add(text)
    return isDouble && !places.has(place)
  })
  return [...held, ...doubles.map(({ schema, field, path }) => clash(schema, field, path, null))]
}

/** The constraint that refuses a key which another record has. */
export const takenKey = 'unique_value_pkey'

/** The refusal of a value that an index of the schema has already; null for another error. */
export function takenInIndex(
  error: unknown,
  resources: Iterable<Pick<ResourceSchema, 'resource'>>,
): Refusal | null {
  for (const { resource } of resources) {
    const found = Object.entries(resource.unique ?? {}).find(([index]) => isTaken(error, index))
    if (!found) continue
    const [, field] = found
    const what = resource.source.name.toLowerCase()
    const code = field === 'name' ? 'name_taken' : 'value_taken'
    const problem = memberProblem(field, code, `Another ${what} has the same ${field}.`)
    return new Refusal('duplicate', `There is a ${what} with that ${field} already.`, [problem])
  }
  return null
}

/** The refusal of a record whose only problems are clashes (409). */
export function duplicate({ resource }: ResourceSchema, problems: readonly Problem[]): Refusal {
  return new Refusal('duplicate', `The ${resource.name} was not saved: a value is taken.`, problems)
}

/** The problem that another record has a value. It reveals nothing of a field that the caller doesn't see. */
export function clash(schema: ResourceSchema, field: Field, path: string, holder: string | null): Problem {
  const name = field.internal_name
  if (isHiddenByRole(schema, name)) return hiddenProblem()
  const message = `Another ${schema.resource.name} has the same ${name}.`
  const problem = memberProblem(name, 'value_taken', message, path)
  return holder ? { ...problem, holder: Number(holder) } : problem
}

/**
 * SELECT of the records that hold values: `place`, the value's place among them, from 1, and the columns of
 * recordStatement and recordsToChange, null if the caller doesn't see the record.
 */
export function holdersSelect({ schema, context }: ReadWork, field: Field, texts: readonly string[]): Sql {
  const [params, { name }] = [callerParamsOf(context), schema.resource]
  return sql`SELECT t.place::text AS place, ${changeColumns(schema, params)},
    ${isMoved(schema, params, param(context.catalog.followedAt))}
  FROM jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) WITH ORDINALITY t (text, place),
    LATERAL (${holders(params, schema, field, sql`t.text`)}) h LEFT JOIN ${sql.id(name)} r
    ON ${visible(name, params, sql`r`)} AND r.id = h.id AND r.deleted_at IS NULL`
}

/** SELECT of the ids of the records that hold a value, SQL of a text. */
function holders({ account }: CallerParams, { resource }: ResourceSchema, field: Field, text: Sql): Sql {
  const { member, key } = kinds[field.type].unique!
  const ofAccount = sql`y.account_id = ${account}::bigint`
  if (hasKeys(field))
    return sql`SELECT y.record AS id FROM unique_value y
    WHERE ${ofAccount} AND y.field = ${sql.integer(field.id)} AND y.key = ${key(text, field)}`
  const value = kinds[field.type].term(field, member)!.sql(storedRow(sql`y`))
  return sql`SELECT y.id FROM ${sql.id(resource.name)} y
    WHERE ${ofAccount} AND y.deleted_at IS NULL
      AND compared_name(${value}) COLLATE "C" = compared_name(${text})`
}

function idsOf(fields: readonly Field[]): string {
  return `{${fields.map(({ id }) => id).join()}}`
}
