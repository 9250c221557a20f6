/** SINGLE_STRING: one line of text. */
import { TextField } from '../ui/inputs.tsx'
import type { Kind, OperandProps } from './kind.ts'

/** A text in a filter, for every kind without a better operand. */
export function TextOperand({ value, onChange, label }: OperandProps) {
  return <TextField label={label} isBare value={value} onChange={onChange} placeholder="Value" />
}

/** What is wrong with a text's length; in code points, as the service counts (D15). */
export function checkLength(
  value: string,
  { min_length = 0, max_length }: { min_length?: number; max_length?: number },
) {
  const length = [...value].length
  if (length < min_length) return `At least ${min_length} characters.`
  if (max_length !== undefined && length > max_length)
    return `At most ${max_length} characters; these are ${length}.`
  return undefined
}

export const text: Kind<string> = {
  Cell: ({ value }) => value,
  Input: ({ value, onChange, field, label, isBare, error, autoFocus }) => (
    <TextField
      {...{ label, isBare, error, autoFocus }}
      isRequired={field.is_required}
      value={value ?? ''}
      onChange={typed => onChange(typed === '' ? null : typed)}
    />
  ),
  Operand: TextOperand,
  text: value => value,
  parse: typed => (typed === '' ? null : typed),
  check: (value, field) => checkLength(value, field.config),
  width: 220,
}
