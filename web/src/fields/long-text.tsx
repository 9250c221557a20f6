/** TEXT: text of several lines. */
import { TextArea } from '../ui/inputs.tsx'
import type { Kind } from './kind.ts'
import { operandOf, TextOperand } from './operand.tsx'
import { checkLength } from './text.tsx'

export const longText: Kind<string> = {
  Cell: ({ value }) => (
    <span dir="auto" className="whitespace-pre-line">
      {value}
    </span>
  ),
  Input: ({ value, onChange, field, label, isBare, error, autoFocus }) => (
    <TextArea
      {...{ label, isBare, error, autoFocus }}
      dir="auto"
      isRequired={field.is_required}
      value={value ?? ''}
      onChange={typed => onChange(typed === '' ? null : typed)}
    />
  ),
  Operand: operandOf(TextOperand),
  text: value => value,
  parse: typed => (typed === '' ? null : typed),
  check: (value, field) => checkLength(value, field.config),
  width: 280,
}
