/**
 * Columns of a record before later changes, as SQL over the current record `d` (D74): how the values before
 * the changes are found, and put in the place of those of now.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { type Param, type Sql, type SqlType, sql } from '../sql.ts'

export type PastColumn = {
  readonly name: string
  readonly type: SqlType
  /** the field, and the member of its value, that it holds; null: the store's own */
  readonly field: string | null
  readonly member: string
  /** True if no event of the record reports it: it never changes, or follows other records (D73) */
  readonly isAsNow?: boolean
  /** Set if no event reports it: it is a copy from the record to which the field `field` points. */
  readonly copied?: Copied | undefined
}

/** The copy of a column `member` of the record of `related` to which the field `of` points. */
type Copied = { readonly of: string; readonly related: string; readonly member: string }

/** For a hidden field that is a copy, from where it is; undefined for another field. */
export function copyOf({ is_hidden, derives_from }: Field, { byName }: ResourceSchema): Copied | undefined {
  const [of, member] = is_hidden ? (derives_from.find(name => name.includes('.'))?.split('.') ?? []) : []
  const related = of && byName.get(of)?.related
  return related && member ? { of, related, member } : undefined
}

/** SQL of what is copied from the record with this id. */
export function copySql({ related, member }: Copied, account: Param, id: Sql): Sql {
  return sql`(SELECT x.${sql.id(member)} FROM ${sql.id(related)} x
    WHERE x.account_id = ${account}::bigint AND x.id = ${id})`
}

/** The changes to revert of a record: if a field has changed, its value before, the custom document then. */
type Before = {
  readonly has: (field: string) => Sql
  readonly value: (field: string) => Sql
  readonly custom: (now: Sql) => Sql
}

/** Those of `firstOf` in the row `t`; NULL: there are none. `custom`: the custom fields among them. */
export function fromAllEvents(custom: readonly string[]): Before {
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

/** Those in `later.changes`, JSON of {field: {before}}; NULL: there are none. */
export const fromOwnEvents: Before = {
  has: field => sql`later.changes ? ${sql.text(field)}`,
  value: field => sql`later.changes -> ${sql.text(field)} -> 'before'`,
  custom: now => {
    const ofCustom = sql`jsonb_each(later.changes) c (k, v) WHERE k LIKE 'cf\\_%'`
    return sql`CASE WHEN later.changes IS NULL THEN ${now} ELSE (${now} - ARRAY(SELECT k FROM ${ofCustom}))
      || coalesce((SELECT jsonb_object_agg(k, v -> 'before') FROM ${ofCustom} AND v -> 'before' <> 'null'), '{}')
      END`
  },
}

/** A column of the record `d` before its changes. */
export function revertedColumn(column: PastColumn, { has, value, custom }: Before, account: Param): Sql {
  const { name, type, field, member, copied } = column
  const now = sql`d.${sql.id(name)}`
  if (name === 'custom') return custom(now)
  if (copied) {
    const id = sql`(${value(copied.of)} #>> '{}')::bigint`
    return sql`CASE WHEN ${has(copied.of)} THEN ${copySql(copied, account, id)} ELSE ${now} END`
  }
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
