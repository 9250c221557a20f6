/** Storage of a field, as SQL over a row: columns, the custom document, order of texts. Knows no kind. */
import { type Param, param, type Sql, type SqlType, sql } from '../sql.ts'
import type { Field } from './field.ts'
import type { Order, Term } from './term.ts'

export type Column = { readonly name: string; readonly type: SqlType }

/** The row that an expression reads. */
export type Row = {
  /** the prefix of a column name: an alias and its dot, or nothing */
  readonly alias: Sql
  /** the row's account: a subquery of another table compares with it, not with the row's column (D175) */
  readonly account: Param
  /** the current time, for values that depend on the clock */
  readonly now: Sql
  /** true for a row that is not in its table, which has another one under its id (history/as-of-event.ts) */
  readonly isDetached?: true
}

/** SQL of a value, over any row. */
export type Expression = (row: Row) => Sql

/** The current row `r`, or the one of another alias. */
export function recordRow(account: Param, alias: Sql = sql`r`): Row {
  return { alias: sql`${alias}.`, account, now: sql`now()` }
}

/** A row without an account: for SQL that reads no other table, or is not run, but compared by its text. */
export function storedRow(alias?: Sql): Row {
  return recordRow(param(null), alias)
}

export function column(name: string): Expression {
  return ({ alias }) => sql`${alias}${sql.id(name)}`
}

/** A field's scalar (or a member's) as `type`: a column, or a member of the custom document. */
export function scalar(field: Field, member: string, type: SqlType): Expression {
  const { computed, internal_name: name } = field
  if (computed) return row => sql`(${computed(row)})`
  if (!field.is_custom) return column(member ? `${name}_${member}` : name)
  const path = member
    ? sql`#>> ${sql.text(`{${name},${member.replaceAll('.', ',')}}`)}`
    : sql`->> ${sql.text(name)}`
  return ({ alias }) =>
    type === 'text' ? sql`(${alias}custom ${path})` : sql`(${alias}custom ${path})::${sql.type(type)}`
}

/**
 * Text sorts by its first 255 code points, case-insensitively (D126). The folded texts compare by code point,
 * so that every engine gives the same order (D50).
 */
export function textOrder(of: Expression, mayBeLong = false, isFilled = false): Order {
  const order = mayBeLong ? longTextOrder : shortTextOrder
  return { sql: row => order(of(row)), type: 'text', isFilled, of: order }
}

/** SQL of a text as sorts compare it. */
export function shortTextOrder(text: Sql): Sql {
  return sql`fold(${text}) COLLATE "C"`
}

/**
 * For `Term.contained`: the member at `path` of a custom field, as stored in `custom`. A step `[]` is any
 * item of an array. Nothing for a field that has a column.
 */
export function containedAt(
  field: Field,
  type: Term['type'],
  path: readonly string[] = [],
): Pick<Term, 'contained'> {
  if (!field.is_custom) return {}
  const wrap = (value: string, step: string) => (step === '[]' ? `[${value}]` : `{"${step}":${value}}`)
  return {
    contained: operand => {
      const value = type === 'numeric' || type === 'bigint' ? operand : JSON.stringify(operand)
      return [field.internal_name, ...path].reduceRight(wrap, value)
    },
  }
}

/**
 * A condition that only rows with a value in `column`, an array or the custom document, meet. Their index has
 * only such rows (0034), and the planner uses it only for a condition that says so.
 */
export function ofFilled(column: Sql, condition: Sql): Sql {
  return sql`(${column} <> '{}' AND ${condition})`
}

/** The JSON document in which a field is stored. */
export function jsonDocument({ is_custom, internal_name: name }: Field): Expression {
  return is_custom ? ({ alias }) => sql`(${alias}custom -> ${sql.text(name)})` : column(name)
}

/** The JSON document of a list; null if it is empty. */
export function filledJsonDocument(field: Field): Expression {
  return row => sql`NULLIF(${jsonDocument(field)(row)}, '[]')`
}

function longTextOrder(text: Sql): Sql {
  return shortTextOrder(sql`left(${text}, 255)`)
}
