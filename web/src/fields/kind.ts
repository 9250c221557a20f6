/**
 * A field kind in the browser: how a value is shown, edited, printed, pasted and filtered. One file a kind,
 * as on the server. No page asks a field for its type; it asks its kind.
 */
import type { ReactNode } from 'react'
import type { Field, Named, Operator } from '../api/api.ts'
import type { Formats } from '../format/format.ts'

/** The names behind a value's ids, as `expand` answers them. */
export type NamesOf = Named | readonly Named[] | null | undefined

export type CellProps<V> = { value: V; field: Field; names: NamesOf }

export type InputProps<V> = {
  value: V | null
  onChange: (value: V | null) => void
  field: Field
  /** the label; in a table's cell `isLabelHidden` keeps it for screen readers */
  label: string
  isLabelHidden?: boolean | undefined
  /** the problem of the value, from the service or `check` */
  error?: string | undefined
  /** problems within the value of a new related record: by its members, such as `company.phones` */
  errors?: { readonly [member: string]: string } | undefined
  /** the names behind the ids of the stored value */
  names?: NamesOf
  /** the other values of the record: a stage depends on its pipeline */
  record?: { readonly [field: string]: unknown } | undefined
  autoFocus?: boolean | undefined
}

export type OperandProps = {
  /** the operand in the filter's text, such as 1020 or 2026-01-01 */
  value: string
  onChange: (text: string) => void
  field: Field
  operator: Operator
  label: string
}

export type Kind<V = unknown> = {
  /** in a table, on a page; never called for null */
  readonly Cell: (props: CellProps<V>) => ReactNode
  readonly Input: (props: InputProps<V>) => ReactNode
  readonly Operand: (props: OperandProps) => ReactNode
  /** the problem of a text as an operand */
  readonly checkOperand?: (text: string, format: Formats) => string | undefined
  /** unit of the operands, if a number alone would be ambiguous */
  readonly Unit?: () => ReactNode
  /** the value in plain text, for copying cells */
  readonly text: (value: V, names: NamesOf, format: Formats, field: Field) => string
  /** the text in the reader's notation, if `text` is in one that can be pasted anywhere */
  readonly display?: Kind<V>['text']
  /** parses a pasted or typed text in the reader's notation; undefined if it is invalid */
  readonly parse: (text: string, field: Field, format?: Formats) => V | null | undefined
  /** the parsed value with what its text doesn't say, of the former value */
  readonly keep?: (value: V, before: V | null) => V
  /** the problem of a value, by the limits of `field.config` */
  readonly check?: (value: V, field: Field) => string | undefined
  /** the fields of a new related record, which are validated like those of a form */
  readonly fieldsWithin?: (value: V, field: Field) => readonly Field[] | null
  /** the value with what its input shows beside it, such as the currency of an amount that names none */
  readonly asShown?: (value: V) => V
  /** the value in the form to send, if that differs from the form that is read */
  readonly write?: (value: V) => unknown
  /** of a table's column, in pixels */
  readonly width: number
  readonly align?: 'end'
  /** how records are grouped by a field: by its value, or by the month of its date */
  readonly groups?: 'value' | 'month'
  /** True if it is before and after, not less and more */
  readonly isTime?: true
}
