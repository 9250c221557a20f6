/**
 * Columns of a record before later changes, as SQL over the current record `d` (D74): how the values before
 * the changes are found, and put in the place of those of now.
 */
import { type Sql, type SqlType, sql } from '../sql.ts'

export type PastColumn = {
  readonly name: string
  readonly type: SqlType
  /** the field, and the member of its value, that it holds; null: the store's own */
  readonly field: string | null
  readonly member: string
  /** True if no event of the record reports it: it never changes, or follows other records (D73) */
  readonly isAsNow?: boolean
}

/** The changes to revert of a record: if a field has changed, its value before, the custom document then. */
type Before = {
  readonly has: (field: string) => Sql
  readonly value: (field: string) => Sql
  readonly custom: (now: Sql) => Sql
}

/** Those of `firstOf` in the row `t`; NULL: there are none. `custom`: the custom fields among them. */
export function takenBackFirst(custom: readonly string[]): Before {
  const has = (field: string) => sql`t.${sql.id(field)} IS NOT NULL`
  const changed = custom.map(field => sql`CASE WHEN ${has(field)} THEN ${sql.text(field)} END`)
  const filled = custom.map(
    field =>
      sql`CASE WHEN t.${sql.id(field)} <> 'null' THEN ${sql.text(`"${field}":`)} || t.${sql.id(field)} END`,
  )
  return {
    has,
    value: field => sql`t.${sql.id(field)}::jsonb`,
    custom: now =>
      custom.length
        ? sql`(${now} - array_remove(ARRAY[${sql.join(changed)}], NULL))
      || concat('{', concat_ws(',', ${sql.join(filled)}), '}')::jsonb`
        : now,
  }
}

/** Those in `own.changes`, JSON of {field: {before}}; NULL: there are none. */
export const takenBackMerged: Before = {
  has: field => sql`own.changes ? ${sql.text(field)}`,
  value: field => sql`own.changes -> ${sql.text(field)} -> 'before'`,
  custom: now => {
    const ofCustom = sql`jsonb_each(own.changes) c (k, v) WHERE k LIKE 'cf\\_%'`
    return sql`CASE WHEN own.changes IS NULL THEN ${now} ELSE (${now} - ARRAY(SELECT k FROM ${ofCustom}))
      || coalesce((SELECT jsonb_object_agg(k, v -> 'before') FROM ${ofCustom} AND v -> 'before' <> 'null'), '{}')
      END`
  },
}

/** A column of the record `d` before its changes. */
export function takenBack({ name, type, field, member }: PastColumn, { has, value, custom }: Before): Sql {
  const now = sql`d.${sql.id(name)}`
  if (name === 'custom') return custom(now)
  const key = field ?? name
  const before = sql`${value(key)}${member ? sql` -> ${sql.text(member)}` : sql.none}`
  return sql`CASE WHEN ${has(key)} THEN ${valueSql(before, type)} ELSE ${now} END`
}

/** SQL of a JSON value as a column of that type. */
function valueSql(value: Sql, type: SqlType): Sql {
  if (type === 'jsonb') return sql`(${value})`
  if (type === 'bigint[]') return sql`ARRAY(SELECT i::bigint FROM jsonb_array_elements_text(${value}) i)`
  return sql`(${value} #>> '{}')::${sql.type(type)}`
}
