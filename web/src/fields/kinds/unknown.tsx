/** A type that this page does not know, such as one of a newer service: shown as it is, never changed. */
import type { Kind } from '../kind.ts'
import { TextOperand } from '../operand.tsx'

const said = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

export const unknown: Kind<unknown> = {
  Cell: ({ value }) => said(value),
  Input: ({ value, label }) => (
    <p>
      {label}: {value === null ? '—' : said(value)}
    </p>
  ),
  Operand: TextOperand,
  text: said,
  parse: () => undefined,
  width: 160,
}
