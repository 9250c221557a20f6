/**
 * What a field is. Owns the vocabulary shared by kinds, catalog, records and lists; does no I/O and knows no
 * resource.
 */
import type { Hint } from '../errors.ts'
import type { Json, JsonObject, RawNumber } from '../json.ts'
import { type Param, type Sql, type SqlType, sql } from '../sql.ts'
import type { Catalog } from './catalog.ts'
import type { FieldType } from './kinds.ts'

/** Type-specific limits, under the field list's own names. Lengths count Unicode code points (D15). */
export type Config = {
  readonly min_length?: number
  readonly max_length?: number
  /** a bound that a double can't hold, such as 9999999999999999, is a RawNumber (D14) */
  readonly min?: number | RawNumber
  readonly max?: number | RawNumber
  /** how many values a field of several values may hold */
  readonly max_limit?: number
  readonly max_digits?: number
  readonly max_decimals?: number
}

export type Option = {
  readonly id: number
  readonly name: string
  readonly position: number
  readonly is_active: boolean
  readonly is_default: boolean
  /** the option of the field's `within` to which it belongs */
  readonly within?: number
}

export type Field = {
  readonly resource: string
  readonly id: number
  readonly internal_name: string
  readonly field_name: string
  readonly type: FieldType
  readonly section: string
  readonly is_active: boolean
  readonly is_required: boolean
  readonly is_read_only: boolean
  readonly is_custom: boolean
  readonly config: Config
  readonly default_value: Json
  /** the choices of a dropdown or multiselect */
  readonly options: readonly Option[]
  /** whether the choices are the interface's, the same for every account */
  readonly has_static_options: boolean
  /** the field whose option decides which options this field has: a pipeline decides on the stages */
  readonly within: string | null
  /** the resource a relation field points to */
  readonly related: string | null
  /** the columns of what it points to that make the name under which that is shown */
  readonly related_name: readonly string[]
  /** the resource that the lines of an amount name */
  readonly lines_of: string | null
  /** the field that keeps an amount in the account's base currency: another one, or the field itself */
  readonly in_base: string | null
  /** whether what it can point to is offered like the options of a dropdown (D33) */
  readonly is_offered: boolean
  /** which of the interface's rules that span fields name this field */
  readonly rules: readonly number[]
  /** a text field that takes a JSON number as its decimal text (D15) */
  readonly accepts_number: boolean
  /** kept in a column but never shown */
  readonly is_hidden: boolean
  /** for a value that has no column */
  readonly computed: Expression | null
  /** whether a custom field has an index of its own, for ranges and sorts */
  readonly is_indexed: boolean
  /** when a custom field was deleted; its values are kept for a while (D36) */
  readonly deleted_at: string | null
  /** counts the changes of the field; a field of the service begins at 1 */
  readonly version: number
  /**
   * true when the value changes without a write of the record, because it follows the clock, a stage or a
   * rate; the stored text does not contain it
   */
  readonly is_volatile: boolean
  /** true when every record has a value, whatever an account requires: the column is NOT NULL */
  readonly is_filled: boolean
  /** true for what the store itself keeps of each record: its id, version and deletion */
  readonly is_of_store: boolean
}

/** What a field is where its definition says nothing else. */
export const plainField = {
  is_read_only: false,
  is_hidden: false,
  accepts_number: false,
  config: {},
  default_value: null,
  options: [],
  has_static_options: false,
  within: null,
  related: null,
  related_name: [],
  lines_of: null,
  in_base: null,
  is_offered: false,
  rules: [],
  computed: null,
  is_volatile: false,
  is_filled: false,
  is_of_store: false,
  is_indexed: false,
  deleted_at: null,
} as const satisfies Partial<Field>

/** A record's values under their internal names, in the form in which they are read and stored. */
export type Values = { [internal_name: string]: Json }

export type Column = { readonly name: string; readonly type: SqlType }

/** The row that an expression is over. */
export type Row = {
  /** what stands before the name of a column: an alias and its dot, or nothing */
  readonly alias: Sql
  /** the moment that the clock says, for what follows it */
  readonly now: Sql
}

/** SQL of a value, over any row. */
export type Expression = (row: Row) => Sql

/** The row `r`, as it is at this moment. */
export const recordRow: Row = { alias: sql`r.`, now: sql`now()` }

/** The place of a value while it is parsed: its field, its JSON pointer, and how to report about it. */
export type Place = {
  readonly field: Field
  readonly path: string
  readonly catalog: Catalog
  /** The record's value of another field: the one that was sent, or the stored one. */
  beside(name: string): Json
  /**
   * Reports a problem at this place (or below it: `at` is appended to the path). Returns undefined, "no
   * value".
   */
  problem(code: string, message: string, more?: { at?: string; hint?: Hint }): undefined
  warn(code: string, message: string): void
  /**
   * Asks for a record to be created with this one (D11). Returns a number that stands for its id until it has
   * one; undefined after a problem.
   */
  create(resource: string, payload: JsonObject, at?: string): number | undefined
  /** Asks for the existence of a record to be checked before anything is written. */
  reference(resource: string, id: number, at?: string): void
}

export const operators = [
  'eq',
  'neq',
  'in',
  'nin',
  'lt',
  'lte',
  'gt',
  'gte',
  'between',
  'like',
  'isnull',
  'notnull',
  'exists',
] as const
export type Operator = (typeof operators)[number]

/** The reason why an operand can't be read. */
export type Complaint = { readonly message: string; readonly hint?: Hint }

/**
 * What a filter or a sort can name: a field, or a member of one (`deal_value.currency`). With `multi`, `sql`
 * is an array of `type`.
 */
export type Term = {
  readonly type: 'text' | 'numeric' | 'bigint' | 'date' | 'timestamptz' | 'jsonb'
  readonly sql: Expression
  readonly multi: boolean
  readonly operators: readonly Operator[]
  /**
   * The text of an operand → the text that the database gets, cast to `type`; several texts when the operand
   * names several values.
   */
  operand(text: string, catalog: Catalog): string | readonly string[] | Complaint
  /** What to sort by; null where sorting has no meaning. */
  readonly order: Order | null
  /** SQL that is true when the member is present; absent = the value is not null */
  readonly present?: Expression
  /**
   * Operand → JSON. The column `custom` contains it exactly when the term equals the operand; the index of
   * `custom` finds it.
   */
  contained?(operand: string): string
}

/** What a sort compares (D29, D50): an expression and its type. */
export type Order = {
  /** `account` is the account of the row, for what is looked up in another table */
  readonly sql: (row: Row, account: Param) => Sql
  readonly type: Term['type']
  /** true when the expression is never null: lists then need no second branch (list/branches.ts) */
  readonly isFilled?: boolean
  /** true when the expression reads another table, so that no index can hold it */
  readonly looksUp?: boolean
  /** for text: the same expression of another text */
  of?(text: Sql): Sql
  /**
   * the values of `column` in the order of the sort; `sql` is the place of a value among them, and null for
   * any other value
   */
  readonly ranked?: { readonly column: Expression; readonly values: readonly number[] }
  /** a quicker expression of the same order, for records that are not deleted: what they point to exists */
  readonly ofLive?: Order
}

export type SubField = {
  name: string
  input_type: string
  display_name: string
  config: Config & { default?: number }
}

/**
 * A field kind: everything that depends on a field's type, in one place (one file in kinds/).
 * Kinds do no I/O.
 */
export type Kind = {
  /** The columns of a system field. Custom fields are members of the column `custom`. */
  columns(field: Field): readonly Column[]
  /**
   * JSON as sent → the value as stored and read; undefined after a reported problem, null when cleared.
   * `current` is the stored value, from which an update keeps parts.
   */
  parse(input: Json, place: Place, current: Json): Json | undefined
  /** The stored value as parameter texts, one for each column. */
  write(value: Json, field: Field): readonly (string | null)[]
  /** What can be filtered: '' for the field itself, 'currency' or 'a.b' for members. Null: no such member. */
  term(field: Field, member: string): Term | null
  /** The members a term may name, in some field of the kind. */
  readonly members: readonly string[]
  /** true for kinds whose values are options */
  readonly hasOptions?: true
  /** What a system field holds when it was never set; absent = null. */
  readonly empty?: Json
  subFields?(field: Field): readonly SubField[]
  /**
   * SQL of a system field's value as JSON text, from its columns: for values that change without a write of
   * their record.
   */
  text?(field: Field): Expression
  /** The limits that an account may set (D36). */
  readonly limits?: readonly (keyof Config)[]
  /** The interface's limits of a custom field of the type (D36); absent: there is no such custom field. */
  readonly custom?: Config
  /** The ids of the records that a stored value points to; absent: the value itself, or its items. */
  pointsTo?(value: Json): Json[]
}

/**
 * The value of a field that was never set or was cleared. A custom field without a value is absent from the
 * document.
 */
export function emptyValue(field: Field, kind: Kind): Json {
  return field.is_custom ? null : (kind.empty ?? null)
}

/** A column of a row. */
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
 * Text sorts by its first 255 code points without regard to case (D126). The folded texts compare by code
 * point, so that every engine gives the same order (D50).
 */
export function textOrder(of: Expression, mayBeLong = false, isFilled = false): Order {
  const order = mayBeLong ? longTextOrder : shortTextOrder
  return { sql: row => order(of(row)), type: 'text', isFilled, of: order }
}

/** SQL of a text as it is compared by a sort. */
export function shortTextOrder(text: Sql): Sql {
  return sql`fold(${text}) COLLATE "C"`
}

function longTextOrder(text: Sql): Sql {
  return shortTextOrder(sql`left(${text}, 255)`)
}

/**
 * For `Term.contained`: the member at `path` of a custom field, as `custom` holds it. A step `[]` is any item
 * of an array. Nothing for a field that has a column.
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

/** Whether there is a value. Nothing else can be asked of a composite field as a whole. */
export function presenceTerm(value: Expression): Term {
  return { type: 'jsonb', sql: value, multi: false, operators: presence, operand: text => text, order: null }
}

/** A field that is kept as a JSON document. */
export function document({ is_custom, internal_name: name }: Field): Expression {
  return is_custom ? ({ alias }) => sql`(${alias}custom -> ${sql.text(name)})` : column(name)
}

/** A list that is kept as a JSON document, null when it is empty. */
export function filledDocument(field: Field): Expression {
  return row => sql`NULLIF(${document(field)(row)}, '[]')`
}

export const presence = ['isnull', 'notnull', 'exists'] as const
export const equality = ['eq', 'neq', 'in', 'nin', ...presence] as const
export const ordered = [...equality, 'lt', 'lte', 'gt', 'gte', 'between'] as const
export const textual = [...equality, 'lt', 'lte', 'gt', 'gte', 'between', 'like'] as const
