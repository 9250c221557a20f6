/**
 * A record as JSON text. It is written once, with the columns, and read as it is: building 25 records of
 * fifty members with every list costs PostgreSQL ten times what reading their text does. What changes without
 * a write of the record (what follows the clock, a stage or a rate), and what the store itself sets (id,
 * version, deletion), is added when it is read.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import { recordRow } from '../fields/columns.ts'
import type { Field, Values } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { type Json, type JsonObject, parseJson } from '../json.ts'
import { madeOnce } from '../made-once.ts'
import { type Sql, sql } from '../sql.ts'

/**
 * The members that a write fixes, as the inside of a JSON object, in the order of the form; custom fields
 * that have a value last (D43).
 */
export function documentOf(fields: ResourceFields, after: Values): string {
  const members: JsonObject = {}
  for (const field of fields.fields) {
    if (field.is_hidden || field.is_volatile || field.is_of_store) continue
    const value = field.computed ? field.default_value : (after[field.internal_name] ?? null)
    if (value !== null || !field.is_custom) members[field.internal_name] = value
  }
  // A field that another process has just made: this catalog does not know it yet, and must not lose its
  // value.
  for (const [name, value] of Object.entries(after)) {
    if (name.startsWith('cf_') && !fields.byName.has(name) && value !== null) members[name] = value
  }
  return JSON.stringify(members).slice(1, -1)
}

/** SQL of a whole record's text, over the row `r`. */
export const documentSql = madeOnce(({ fields }: ResourceFields): Sql => {
  const clock = fields
    .filter(field => field.is_volatile)
    .map(field => sql`\n    ${sql.text(`,"${field.internal_name}":`)}, ${shownText(field)},`)
  const deletedAt = sql`coalesce(${jsonInstant(sql`r.deleted_at`)}, 'null')`
  return sql`concat('{"id":', r.id, ',', r.document,${sql.join(clock, sql.none)}
    ',"version":', r.version, ',"deleted_at":', ${deletedAt}, '}')`
})

/**
 * SQL of a stored text with other values for some of its members, as SQL of their JSON text; all others stay
 * digit for digit.
 */
export function documentWith(document: Sql, members: { readonly [name: string]: Sql }): Sql {
  const values = Object.entries(members).map(([name, value]) => sql`WHEN ${sql.text(name)} THEN ${value}`)
  return rebuilt(document, sql`CASE m.key ${sql.join(values, sql` `)} ELSE m.value::text END`, sql`true`)
}

/** SQL of a stored text without the member that `name`, SQL too, says. */
export function documentWithout(document: Sql, name: Sql): Sql {
  return rebuilt(document, sql`m.value::text`, sql`m.key <> ${name}`)
}

function rebuilt(document: Sql, value: Sql, where: Sql): Sql {
  return sql`(
    SELECT string_agg(concat(to_json(m.key), ':', ${value}), ',' ORDER BY m.place)
    FROM json_each(concat('{', ${document}, '}')::json) WITH ORDINALITY m (key, value, place)
    WHERE ${where})`
}

/** SQL of a moment as JSON text. */
export function jsonInstant(moment: Sql): Sql {
  return sql`to_json(to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text`
}

function shownText(field: Field): Sql {
  const { computed } = field
  const text = computed ? sql`(${computed(recordRow)})::text` : kinds[field.type].text?.(field)(recordRow)
  if (!text) throw new Error(`${field.internal_name} can't be shown from its columns`)
  return sql`coalesce(${text}, 'null')`
}

/**
 * What a caller is shown of a record's text: without the fields that were taken out of use. Mostly that is
 * the text itself.
 */
export function shown(fields: ResourceFields, record: string): string {
  return isShownWhole(fields, null)
    ? record
    : JSON.stringify(shownMembers(fields, parseJson(record) as JsonObject, null))
}

/** The same of a record that is parsed; `only` narrows it to some of its members. */
export function shownMembers(
  fields: ResourceFields,
  record: JsonObject,
  only: readonly Field[] | null,
): JsonObject {
  if (only)
    return Object.fromEntries(
      only.map(({ internal_name: name }): [string, Json] => [name, record[name] ?? null]),
    )
  const members = Object.entries(record).filter(([name]) => fields.byName.get(name)?.is_active !== false)
  return Object.fromEntries(members)
}

/** Whether a caller is shown all that is stored. */
export function isShownWhole(fields: ResourceFields, only: readonly Field[] | null): boolean {
  return only === null && fields.fields.every(field => field.is_active)
}
