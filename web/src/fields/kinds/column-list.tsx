/** COLUMN_LIST: the columns of a view. They are chosen in a table, not written in a form. */
import type { Kind } from '../kind.ts'
import { operandOf, TextOperand } from '../operand.tsx'

type Columns = readonly { readonly field: string; readonly width?: number }[]

const written = (columns: Columns) => columns.map(({ field }) => field).join(', ')

const named = (text: string): Columns =>
  text
    .split(',')
    .map(name => name.trim())
    .filter(Boolean)
    .map(field => ({ field }))

export const columnList: Kind<Columns> = {
  Cell: ({ value }) => written(value),
  Input: ({ value, label }) => (
    <p>
      {label}: {value ? written(value) : '—'}
    </p>
  ),
  Operand: operandOf(TextOperand),
  text: written,
  parse: typed => named(typed),
  width: 220,
}
