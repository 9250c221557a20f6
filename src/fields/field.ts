/**
 * What a field is. Owns the vocabulary shared by kinds, catalog, records and lists; does no I/O and knows no
 * resource.
 */
import type { Hint } from '../errors.ts'
import type { Json, JsonObject, RawNumber } from '../json.ts'
import type { Sql, Part as SqlPart } from '../sql.ts'
import type { Catalog } from './catalog.ts'
import type { Column, Expression } from './columns.ts'
import type { FieldType } from './kinds.ts'
import type { Term } from './operators.ts'

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
  /** whether a unique text is compared with its case (D76); absent: it is not */
  readonly case_sensitive?: true
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
  /** the columns that make the name of the record that it points to */
  readonly related_name: readonly string[]
  /** whether a string can name that record (D75) */
  readonly is_named: boolean
  /** the resource that the lines of an amount name */
  readonly lines_of: string | null
  /** the field that keeps an amount in the account's base currency: another one, or the field itself */
  readonly in_base: string | null
  /** whether the records that it can point to are offered like the options of a dropdown (D33) */
  readonly is_offered: boolean
  /** which of the interface's rules that span fields name this field */
  readonly rules: readonly number[]
  /** what whoever sends or reads it can't know from its name and type */
  readonly help: string | null
  /** a text field that takes a JSON number as its decimal text (D15) */
  readonly accepts_number: boolean
  /** a text field that holds an e-mail, which is compared in any case (D88) */
  readonly is_email: boolean
  /** kept in a column but never shown */
  readonly is_hidden: boolean
  /** for a value that has no column */
  readonly computed: Expression | null
  /** of a volatile computed value: whether it may have moved since the last write; null if it always may */
  readonly moves: Expression | null
  /** whether a custom field has an index of its own, for ranges and sorts */
  readonly is_indexed: boolean
  /** whether no two live records have the same value (D76) */
  readonly is_unique: boolean
  /** whether the schema sees to that, for every account */
  readonly is_unique_by_index: boolean
  /** when a custom field was deleted; its values are kept for a while (D36) */
  readonly deleted_at: string | null
  /** counts the changes of the field; a field of the service begins at 1 */
  readonly version: number
  /**
   * true when the value changes without a write of the record, because it follows the clock, a stage, a rate
   * or other records; the stored text does not contain it
   */
  readonly is_volatile: boolean
  /**
   * the resource whose records decide on the value: their writes keep its column and the text in which it is
   * shown, and those of its own record leave both alone
   */
  readonly kept_by: string | null
  /**
   * whether it shows what one of those records says; whoever sees only some of them does not see it (D64)
   */
  readonly shows_one: boolean
  /** true when every record has a value, whatever an account requires: the column is NOT NULL */
  readonly is_filled: boolean
  /**
   * the fields of which its value tells, those of another resource as "activity.notes"; whoever may not see
   * one of them does not see it either (D64)
   */
  readonly derives_from: readonly string[]
  /** true for what the store itself keeps of each record: its id, version and deletion */
  readonly is_of_store: boolean
}

/** The properties of a field that its definition leaves out. */
export const plainField = {
  is_read_only: false,
  is_hidden: false,
  accepts_number: false,
  is_email: false,
  config: {},
  default_value: null,
  options: [],
  has_static_options: false,
  within: null,
  related: null,
  related_name: [],
  is_named: false,
  lines_of: null,
  in_base: null,
  is_offered: false,
  rules: [],
  help: null,
  computed: null,
  moves: null,
  is_volatile: false,
  kept_by: null,
  shows_one: false,
  derives_from: [],
  is_filled: false,
  is_of_store: false,
  is_indexed: false,
  is_unique: false,
  is_unique_by_index: false,
  deleted_at: null,
} as const satisfies Partial<Field>

/** A record's values under their internal names, in the form in which they are read and stored. */
export type Values = { [internal_name: string]: Json }

/** What a kind knows of a value that it parses: its field, its JSON pointer, and how to report about it. */
export type ParseContext = {
  readonly field: Field
  readonly path: string
  readonly catalog: Catalog
  /** The record's value of another field: the one that was sent, or the stored one. */
  beside(name: string): Json
  /**
   * Reports a problem of this value, or of a part of it: `at` is appended to the path. Returns undefined,
   * which means "no value".
   */
  problem(
    code: string,
    message: string,
    more?: { at?: string; hint?: Hint; candidates?: readonly object[] },
  ): undefined
  /** Reports what is accepted but changed or ignored; `at` as for a problem. */
  warn(code: string, message: string, at?: string): void
  /**
   * Asks for a record to be created with this one (D11). Returns a number that stands for its id until it has
   * one; undefined after a problem.
   */
  create(resource: string, payload: JsonObject, at?: string): number | undefined
  /** Asks for the existence of a record to be checked before anything is written. */
  reference(resource: string, id: number, at?: string): void
  /**
   * The id of the record that has a name (D75), whose existence is checked like that of a reference.
   * Undefined after a problem, and as long as names are not looked up yet.
   */
  named(resource: string, name: string, at?: string): number | undefined
}

export type SubField = {
  name: string
  input_type: string
  display_name: string
  config: Config & { default?: number }
}

/** A member of a value, and the one that names what it is the id of. */
export type Part = { readonly member: string; readonly named?: string }

/** A JSON Schema (draft 2020-12, as OpenAPI 3.1 has it). */
export type Schema = { readonly [keyword: string]: unknown }

/** What may be sent in a field, and what is read in it. */
export type Schemas = { readonly input: Schema; readonly output: Schema }

/** How a record is told by a value of a field. */
export type Unique = {
  /** the member that is compared; '' for the field itself */
  readonly member: string
  /** a text as it is compared for being unique (D76), and SQL that makes the same of a text */
  compared(text: string, field: Field): string
  key(text: Sql, field: Field): Sql
  /** the texts in a stored value */
  texts(value: Json): string[]
  /** a value that has a text and nothing more; null where no value has it */
  value(text: string): Json
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
  parse(input: Json, context: ParseContext, current: Json): Json | undefined
  /** The stored value as parameter texts, one for each column. */
  write(value: Json, field: Field): readonly (string | null)[]
  /** What can be filtered: '' for the field itself, 'currency' or 'a.b' for members. Null: no such member. */
  term(field: Field, member: string): Term | null
  /**
   * The JSON Schemas of a value that is there (D90). `input` takes all that `parse` takes. `output` knows no
   * limit that an account sets: what was stored before stays.
   */
  schema(field: Field): Schemas
  /** The members a term may name, in some field of the kind. */
  readonly members: readonly string[]
  /** true for kinds whose values are options */
  readonly hasOptions?: true
  /** What a system field holds when it was never set; absent = null. */
  readonly empty?: Json
  subFields?(field: Field): readonly SubField[]
  /** The members of a value that have columns of their own in a table (D81); absent: the value has one. */
  readonly parts?: readonly Part[]
  /**
   * SQL of a system field's value as JSON text, from its columns: for values that change without a write of
   * their record.
   */
  text?(field: Field): Expression
  /** What an account may set in `config` (D36). */
  readonly limits?: readonly (keyof Config)[]
  /** The interface's limits of a custom field of the type (D36); absent: there is no such custom field. */
  readonly custom?: Config
  /** What sums add up of a value (D85): a number, and the currency that it is in; absent: nothing. */
  measured?(field: Field): { readonly amount: Expression; readonly currency?: Expression }
  /** SQL of the calendar date of a value in a time zone, for sums by day, week and so on; absent: none. */
  day?(field: Field, timeZone: SqlPart): Expression
  /** What the search looks in (D86); absent: in no field of the kind. */
  readonly searched?: Searched
  /** The ids of the records that a stored value points to; absent: the value itself, or its items. */
  pointsTo?(value: Json): Json[]
  /** set where a record can be told by a value: names and e-mails (D75), unique fields (D76) */
  readonly unique?: Unique
}

/** How a search looks in the values of a kind. */
export type Searched = {
  /** SQL of what is looked in, from SQL of the column: the texts folded, or the digits of numbers */
  sql(column: Sql): Sql
  /** the texts of a stored value, as people write them */
  texts(value: Json): readonly string[]
  /** whether only the digits of a text count */
  readonly isOfDigits?: true
}

/**
 * The value of a field that was never set or was cleared. A custom field without a value is absent from the
 * document.
 */
export function emptyValue(field: Field, kind: Kind): Json {
  return field.is_custom ? null : (kind.empty ?? null)
}
