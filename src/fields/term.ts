/** Terms of fields in lists: their operators, and their orders. Knows no kind. */
import { type Operator, operators } from '../../client/src/filter.ts'
import type { Hint } from '../errors.ts'
import type { Sql } from '../sql.ts'
import type { Catalog } from './catalog.ts'
import type { Expression, Row } from './columns.ts'

export { type Operator, operators }

/** The reason why an operand can't be read. */
export type OperandProblem = { readonly message: string; readonly hint?: Hint }

/**
 * A term that a filter or a sort can name: a field, or a member of one (`deal_value.currency`). With `multi`,
 * `sql` is an array of `type`.
 */
export type Term = {
  readonly type: 'text' | 'numeric' | 'bigint' | 'date' | 'timestamptz' | 'jsonb'
  readonly sql: Expression
  readonly multi: boolean
  /** set if `sql` is a column of ids, which may have an index of those that are not empty */
  readonly isColumnOfIds?: true
  readonly operators: readonly Operator[]
  /**
   * The text of an operand → the text for the database, cast to `type`; several texts if the operand names
   * several values.
   */
  operand(text: string, catalog: Catalog): string | readonly string[] | OperandProblem
  /**
   * The first and the last value that an operand stands for: of moments, those of a plain day in the
   * account's time zone (D42). Null for an operand that is one value.
   */
  spanOf?(text: string, catalog: Catalog): readonly [first: string, last: string] | null
  /** the resource whose names stand for its ids, if it is not the one that the field points to */
  readonly idsOf?: string
  /** The order of a sort; null if sorting has no meaning. */
  readonly order: Order | null
  /** the expression compared with operands, if not the value itself: an amount compares in base currency */
  readonly compared?: Expression
  /** SQL that is true if the member is present; absent = the value is not null */
  readonly present?: Expression
  /** The texts that eq and in compare, if not the value itself: e-mails in any case (D88). */
  readonly alike?: Alike
  /**
   * The JSON of an operand, for a field in the column `custom`: the column contains it (`@>`) exactly if the
   * term equals the operand. The index of the column finds such records.
   */
  contained?(operand: string): string
}

/** A text normalized for comparison: SQL of the stored ones, of one text or, with `multi`, of an array. */
export type Alike = {
  readonly sql: Expression
  of(text: string): string
  /** set if an index finds the records of this resource, which are then looked up in a subquery */
  readonly resource?: string
  /** the index's own expression: it includes all texts of `sql`, and is empty unless `where` is true */
  readonly indexed?: { readonly sql: Expression; readonly where: Expression }
}

/** The condition that the caller sees a row of another resource, under its alias. */
export type VisibleSql = (resource: string, alias: Sql) => Sql

/** The sort key (D29, D50): an expression and its type. */
export type Order = {
  readonly sql: (row: Row, visibleAs: VisibleSql) => Sql
  readonly type: Term['type']
  /** true if the expression is never null: lists then need no second key range (lists/order.ts) */
  readonly isFilled?: boolean
  /** true if the expression reads another table, so that no index can hold it */
  readonly looksUp?: boolean
  /** the resource by whose names it sorts */
  readonly namesOf?: string
  /** for text: the same expression of another text */
  of?(text: Sql): Sql
  /**
   * the values of `column` in the order of the sort; `sql` is the rank of a value among them, null for any
   * other value
   */
  readonly ranked?: { readonly column: Expression; readonly values: readonly number[] }
  /** a faster expression of the same order, which needs that references exist: so not of deleted records */
  readonly ofLive?: Order
}

/** Tests for a value. A composite field as a whole has no other operator. */
export function presenceTerm(value: Expression): Term {
  return { type: 'jsonb', sql: value, multi: false, operators: presence, operand: text => text, order: null }
}

export const presence = ['isnull', 'notnull', 'exists'] as const

/** The operator for one value → the one for several: a name may mean several options or stages. */
export const ofSeveral: { readonly [operator: string]: Operator } = {
  eq: 'in',
  neq: 'nin',
  in: 'in',
  nin: 'nin',
}

export const equality = ['eq', 'neq', 'in', 'nin', ...presence] as const

export const ordered = [...equality, 'lt', 'lte', 'gt', 'gte', 'between'] as const

export const textual = [...equality, 'lt', 'lte', 'gt', 'gte', 'between', 'like'] as const
