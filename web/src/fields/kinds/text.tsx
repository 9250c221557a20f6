/** SINGLE_STRING: one line of text. */
import { TextField } from '../../ui/inputs.tsx'
import type { Kind } from '../kind.ts'
import { operandOf, TextOperand } from '../operand.tsx'

/** The problem of a text's length, in the service's words; counted in code points (D15). */
export function checkLength(
  value: string,
  { min_length = 0, max_length }: { min_length?: number; max_length?: number },
): string | undefined {
  const length = [...value].length
  if (length < min_length) return `Must have at least ${min_length} character${min_length === 1 ? '' : 's'}.`
  if (max_length !== undefined && length > max_length)
    return `Must have at most ${max_length} characters, but has ${length}.`
  return undefined
}

export const text: Kind<string> = {
  Cell: ({ value }) => <bdi>{value}</bdi>,
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <TextField
      {...{ label, isLabelHidden, error, autoFocus }}
      dir="auto"
      isRequired={field.is_required}
      value={value ?? ''}
      onChange={typed => onChange(typed === '' ? null : typed)}
    />
  ),
  Operand: operandOf(TextOperand),
  text: value => value,
  parse: typed => (typed === '' ? null : typed.replace(/\s*[\r\n]+\s*/g, ' ')),
  check: (value, field) => checkLength(value, field.config),
  width: 220,
}
