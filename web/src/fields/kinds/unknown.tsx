/** A type that this page does not know, such as one of a newer service: shown unchanged, never edited. */
import type { Kind } from '../kind.ts'
import { TextOperand } from '../operand.tsx'

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

export const unknown: Kind<unknown> = {
  Cell: ({ value }) => textOf(value),
  Input: ({ value, label }) => (
    <p>
      {label}: {value === null ? '—' : textOf(value)}
    </p>
  ),
  Operand: TextOperand,
  text: textOf,
  parse: () => undefined,
  width: 160,
}
