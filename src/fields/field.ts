/**
 * Model of a field. Owns the vocabulary shared by kinds, catalog, records and lists; does no I/O and knows no
 * resource.
 */
import type { Hint, ProblemCode } from '../errors.ts'
import type { Json, JsonObject, RawNumber } from '../json.ts'
import type { Sql, Part as SqlPart } from '../sql.ts'
import type { Catalog } from './catalog.ts'
import type { Column, Expression } from './columns.ts'
import type { FieldType } from './kinds.ts'
import type { Term } from './term.ts'

/** Type-specific limits, under the field list's own names. Lengths count Unicode code points (D15). */
export type Config = {
  readonly min_length?: number
  readonly max_length?: number
  /** a bound that a double can't hold, such as 9999999999999999, is a RawNumber (D14) */
  readonly min?: number | RawNumber
  readonly max?: number | RawNumber
  /** maximum number of values in a field of several values */
  readonly max_limit?: number
  readonly max_digits?: number
  readonly max_decimals?: number
  /** true if a unique text is case-sensitive (D76) */
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
  /** true if the choices are the interface's, the same for every account */
  readonly has_static_options: boolean
  /** the field whose option selects the options of this field: a pipeline selects the stages */
  readonly within: string | null
  /** the resource that a relation field points to */
  readonly related: string | null
  /** the columns that form the name of the record that it points to */
  readonly related_name: readonly string[]
  /** true if a string can name that record (D75) */
  readonly is_named: boolean
  /** the resource that the lines of an amount name */
  readonly lines_of: string | null
  /** the field with the amount in the account's base currency: another one, or the field itself */
  readonly in_base: string | null
  /** true if the records that it can point to are offered like the options of a dropdown (D33) */
  readonly is_offered: boolean
  /** numbers of the interface's cross-field rules that name this field */
  readonly rules: readonly number[]
  /** help for clients, beyond its name and type */
  readonly help: string | null
  /** a text field that takes a JSON number as its decimal text (D15) */
  readonly accepts_number: boolean
  /** a text field with an e-mail, which is compared case-insensitively (D88) */
  readonly is_email: boolean
  /** stored in a column but never shown */
  readonly is_hidden: boolean
  /** SQL of a value without a column */
  readonly computed: Expression | null
  /** for a volatile computed value: true if it may have changed since the last write; null: always */
  readonly moves: Expression | null
  /** true if a custom field has its own index, for ranges and sorts */
  readonly is_indexed: boolean
  /** true if no two live records may have the same value (D76) */
  readonly is_unique: boolean
  /** true if the schema ensures that, for every account */
  readonly is_unique_by_index: boolean
  /** time at which a custom field was deleted; its values have a retention (D36) */
  readonly deleted_at: string | null
  /** counts the changes of the field; a field of the service begins at 1 */
  readonly version: number
  /**
   * true if the value changes without a write of the record, because it depends on the clock, a stage, a rate
   * or other records; the stored text does not contain it
   */
  readonly is_volatile: boolean
  /**
   * the resource whose records determine the value: their writes maintain its column and its rendered text,
   * and writes of its own record leave both alone
   */
  readonly maintained_by: string | null
  /** true if it shows data of one of those records; hidden from callers who see only some of them (D64) */
  readonly shows_one: boolean
  /** true if every record has a value, whatever an account requires: the column is NOT NULL */
  readonly is_filled: boolean
  /**
   * the fields that its value reveals, those of another resource as "activity.notes"; hidden from callers who
   * may not see one of them (D64)
   */
  readonly derives_from: readonly string[]
  /** true for the store's own columns of each record: its id, version and deletion */
  readonly is_of_store: boolean
  /** true for numbers that the service itself keeps whole, whatever an account has narrowed since */
  readonly is_whole: boolean
}

/** Defaults of the properties that a field's definition omits. */
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
  maintained_by: null,
  shows_one: false,
  derives_from: [],
  is_filled: false,
  is_of_store: false,
  is_whole: false,
  is_indexed: false,
  is_unique: false,
  is_unique_by_index: false,
  deleted_at: null,
} as const satisfies Partial<Field>

/** A record's values by internal name, in the form in which they are read and stored. */
export type Values = { [internal_name: string]: Json }

/** The context in which a kind parses a value: its field, its JSON pointer, and the reporting of problems. */
export type ParseContext = {
  readonly field: Field
  readonly path: string
  readonly catalog: Catalog
  /** The record's value of another field: the value sent, or the stored one. */
  beside(name: string): Json
  /**
   * Reports a problem of this value, or of a part of it: `at` is appended to the path. Returns undefined,
   * which means "no value".
   */
  problem(
    code: ProblemCode,
    message: string,
    more?: { at?: string; hint?: Hint; candidates?: readonly object[] },
  ): undefined
  /** Reports a value that is accepted but changed or ignored; `at` as for a problem. */
  warn(code: ProblemCode, message: string, at?: string): void
  /**
   * Requests the creation of a record with this one (D11). Returns a number that represents its id until it
   * has one; undefined after a problem.
   */
  create(resource: string, payload: JsonObject, at?: string): number | undefined
  /** Adds a reference: nothing is written unless the record exists. */
  reference(resource: string, id: number, at?: string): void
  /**
   * The id of the record with a name (D75), whose existence is checked like that of a reference. Undefined
   * after a problem, and while names are not looked up yet.
   */
  named(resource: string, name: string, at?: string): number | undefined
}

export type SubField = {
  name: string
  input_type: string
  display_name: string
  config: Config & { default?: number }
}

/** A member of a value, and the member with the name for its id. */
export type Part = { readonly member: string; readonly named?: string }

/** A JSON Schema (draft 2020-12, as OpenAPI 3.1 has it). */
export type Schema = { readonly [keyword: string]: unknown }

/** The schemas of values sent in a field, and read from it. */
export type Schemas = { readonly input: Schema; readonly output: Schema }

/** Identification of a record by a value of a unique field. */
export type Unique = {
  /** the member that is compared; '' for the field itself */
  readonly member: string
  /** a text normalized for uniqueness (D76), and SQL that does the same */
  compared(text: string, field: Field): string
  key(text: Sql, field: Field): Sql
  /** the texts in a stored value */
  texts(value: Json): string[]
  /** a value with this text and nothing more; null if no value has it */
  value(text: string): Json
}

/**
 * A field kind: everything that depends on a field's type, in one place (one file in kinds/). Kinds do no
 * I/O.
 */
export type Kind = {
  /** The columns of a system field. Custom fields are members of the column `custom`. */
  columns(field: Field): readonly Column[]
  /**
   * JSON as sent → the value as stored and read; undefined after a reported problem, null when cleared.
   * `current` is the stored value, parts of which an update preserves.
   */
  parse(input: Json, context: ParseContext, current: Json): Json | undefined
  /** The stored value as parameter texts, one for each column. */
  write(value: Json, field: Field): readonly (string | null)[]
  /** The filterable term: '' for the field itself, 'currency' or 'a.b' for members. Null: no such member. */
  term(field: Field, member: string): Term | null
  /**
   * The JSON Schemas of a value that is not null (D90). `input` accepts everything that `parse` accepts.
   * `output` has no limit set by an account, as older stored values remain.
   */
  schema(field: Field): Schemas
  /** The members that a term may name, in some field of the kind. */
  readonly members: readonly string[]
  /** true for kinds whose values are options */
  readonly hasOptions?: true
  /** The value of a system field that was never set; absent = null. */
  readonly empty?: Json
  subFields?(field: Field): readonly SubField[]
  /** The members of a value with columns of their own in a table (D81); absent: the value has one column. */
  readonly parts?: readonly Part[]
  /**
   * SQL of a system field's value as JSON text, from its columns: for values that change without a write of
   * their record.
   */
  text?(field: Field): Expression
  /** The limits that an account may set in `config` (D36). */
  readonly limits?: readonly (keyof Config)[]
  /** The interface's limits of a custom field of the type (D36); absent: there is no such custom field. */
  readonly custom?: Config
  /** The amount in a value that sums add up (D85), with its currency; absent: none. */
  measured?(field: Field): { readonly amount: Expression; readonly currency?: Expression }
  /** SQL of the calendar date of a value in a time zone, for sums by day, week and so on; absent: none. */
  dateSql?(field: Field, timeZone: SqlPart): Expression
  /** The searched parts of a value (D86); absent: no field of the kind is searched. */
  readonly searched?: TextSearch
  /** The ids of the records that a stored value points to; absent: the value itself, or its items. */
  pointsTo?(value: Json): Json[]
  /** set if a value can identify a record: names and e-mails (D75), unique fields (D76) */
  readonly unique?: Unique
}

/** Search in the values of a kind. */
export type TextSearch = {
  /** SQL of the searched text, from SQL of the column: the texts folded, or the digits of numbers */
  sql(column: Sql): Sql
  /** the texts of a stored value, as people write them */
  texts(value: Json): readonly string[]
  /** true if only the digits of a text count */
  readonly isOfDigits?: true
}

/**
 * The value of a field that was never set or was cleared. A custom field without a value is absent from the
 * document.
 */
export function emptyValue(field: Field, kind: Kind): Json {
  return field.is_custom ? null : (kind.empty ?? null)
}
