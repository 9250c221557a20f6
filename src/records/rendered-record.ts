/**
 * The rendered record: a record's JSON text, in the column `document`. It is written with the other columns
 * and read unchanged: building 25 records of fifty members from columns takes PostgreSQL ten times as long.
 * Reading adds three kinds of members: those that change without a write of the record (with the clock, a
 * stage or a rate), those that writes of other records maintain, in a text of their own (D73), and those that
 * the store sets (id, version, deletion).
 */
import { type Problem, problemAt } from '../errors.ts'
import { isShown, type ResourceSchema } from '../fields/catalog.ts'
import { type Row, recordRow } from '../fields/columns.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { jsonInstant } from '../fields/moment.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { mayRead } from '../rights/rights.ts'
import type { Caller } from '../rights/visibility.ts'
import { type Param, pattern, type Sql, sql } from '../sql.ts'
import { memoize } from '../waiting/memoize.ts'
import type { Saved } from './write/operation.ts'

/**
 * The stored text: the members of a JSON object without its braces, in the order of the form. Custom fields
 * come last, and only those that have a value (D43).
 */
export function renderedMembers({ whole: schema }: ResourceSchema, after: Values): string {
  const members: JsonObject = {}
  for (const field of schema.fields) {
    if (field.is_hidden || field.is_volatile || field.is_of_store) continue
    const value = field.computed ? field.default_value : (after[field.internal_name] ?? null)
    if (value !== null || !field.is_custom) members[field.internal_name] = value
  }
  // Another process has just created this field, which this catalog does not know yet. Its value must not be
  // lost.
  for (const [name, value] of Object.entries(after)) {
    if (name.startsWith('cf_') && !schema.byName.has(name) && value !== null) members[name] = value
  }
  return JSON.stringify(members).slice(1, -1)
}

/** SQL of a whole record's text, over the row `r` of the account. */
export function renderedSql(schema: ResourceSchema, account: Param): Sql {
  return rendered(schema)([account])
}

const rendered = memoize(({ whole }: ResourceSchema) =>
  pattern(1, ([account]) => {
    const row = recordRow(account!)
    const clock = whole.fields
      .filter(field => field.is_volatile && !field.maintained_by)
      .map(field => sql`\n    ${sql.text(`,"${field.internal_name}":`)}, ${shownText(field, row)},`)
    const { maintained } = whole.resource
    const keptByOthers = maintained ? sql` ',', r.${sql.id(maintained.document)},` : sql.none
    const deletedAt = sql`coalesce(${jsonInstant(sql`r.deleted_at`)}, 'null')`
    return sql`concat('{"id":', r.id, ',', r.document,${keptByOthers}${sql.join(clock, sql.none)}
    ',"version":', r.version, ',"deleted_at":', ${deletedAt},
    ',"deleted_by":', coalesce(r.deleted_by::text, 'null'), '}')`
  }),
)

/**
 * SQL of a stored text in which values, SQL of JSON text, replace some members. All other members stay digit
 * for digit.
 */
export function renderedWith(document: Sql, members: { readonly [name: string]: Sql }): Sql {
  const values = Object.entries(members).map(
    ([name, value]) => sql`WHEN m.key = ${sql.text(name)} THEN ${value}`,
  )
  return rebuilt(document, sql`CASE ${sql.join(values, sql` `)} ELSE m.value::text END`, sql`true`)
}

/** SQL of a stored text without the member `name`, which is SQL, too. */
export function renderedWithout(document: Sql, name: Sql): Sql {
  return rebuilt(document, sql`m.value::text`, sql`m.key <> ${name}`)
}

function rebuilt(document: Sql, value: Sql, where: Sql): Sql {
  return sql`(
    SELECT string_agg(concat(to_json(m.key), ':', ${value}), ',' ORDER BY m.place)
    FROM json_each(concat('{', ${document}, '}')::json) WITH ORDINALITY m (key, value, place)
    WHERE ${where})`
}

/** SQL of a value as JSON text, over a row. */
export function shownText(field: Field, row: Row): Sql {
  const { computed } = field
  const text = kinds[field.type].text?.(field)(row) ?? (computed && sql`(${computed(row)})::text`)
  if (!text) throw new Error(`${field.internal_name} can't be shown from its columns`)
  return sql`coalesce(${text}, 'null')`
}

/**
 * A record's text as a caller sees it: without inactive fields and fields that the caller's role hides (D64).
 * Mostly that is the stored text itself.
 */
export function shown(schema: ResourceSchema, record: string): string {
  return isShownWhole(schema, null)
    ? record
    : JSON.stringify(shownMembers(schema, parseJson(record) as JsonObject, null))
}

/**
 * The text of a saved record as its author sees it. A caller who may not read the resource gets the id and
 * the version of a record that existed before: they have not written the rest.
 */
export function renderSaved(schema: ResourceSchema, caller: Caller, saved: Saved): string {
  const { id, version, record, isNew = false } = saved
  return isNew || mayRead(caller, schema.resource.name)
    ? shown(schema, record)
    : JSON.stringify({ id, version })
}

/** Like `shown`, for a parsed record; `only` narrows it to some of its members. */
export function shownMembers(
  schema: ResourceSchema,
  record: JsonObject,
  only: readonly Field[] | null,
): JsonObject {
  if (only)
    return Object.fromEntries(
      only.map(({ internal_name: name }): [string, Json] => [name, record[name] ?? null]),
    )
  const { byName } = schema
  const isKept = ([name]: [string, Json]) => !byName.has(name) || isShown(byName.get(name)!)
  return Object.fromEntries(Object.entries(record).filter(isKept))
}

/** True if a caller sees all that is stored. */
export function isShownWhole(schema: ResourceSchema, only: readonly Field[] | null): boolean {
  return only === null && wholeShown(schema).isWhole
}

const wholeShown = memoize((schema: ResourceSchema) => {
  const isSeen = ({ is_active, internal_name }: Field) => is_active && !isHiddenByRole(schema, internal_name)
  return { isWhole: schema.fields.every(isSeen) }
})

/** True if the caller's role hides a field that others see (D64). */
export function isHiddenByRole({ byName, whole }: ResourceSchema, name: string): boolean {
  return byName !== whole.byName && byName.get(name)?.is_hidden === true && !whole.byName.get(name)?.is_hidden
}

/** The problem of a field that the caller's role hides (D64); it does not name the field. */
export function hiddenProblem(): Problem {
  return problemAt('', 'not_allowed', 'A rule does not allow this record.')
}
