/** TIME: a time of day without offset, HH:MM. */
import { useFormat } from '../../format/use-format.tsx'
import { TextField } from '../../ui/inputs.tsx'
import type { Kind, OperandProps } from '../kind.ts'
import { operandOf } from '../operand.tsx'

function TimeCell({ value }: { value: string }) {
  const format = useFormat()
  return <time className="tabular">{format.time(value)}</time>
}

export function TimeOperand({ value, onChange, label }: OperandProps) {
  return <TextField type="time" label={label} isLabelHidden value={value} onChange={onChange} />
}

/** 9:30, 09:30:15 and 9.30 pm → HH:MM */
export function readTime(text: string): string | undefined {
  const [, hours, minutes, half] =
    /^\s*(\d{1,2})[:.](\d\d)(?::\d\d(?:\.\d+)?)?\s*([ap])?\.?(?:m\.?)?\s*$/i.exec(text) ?? []
  if (!hours || !minutes) return undefined
  const hour = half ? (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hours)
  if (hour > 23 || Number(minutes) > 59) return undefined
  return `${String(hour).padStart(2, '0')}:${minutes}`
}

export const time: Kind<string> = {
  Cell: TimeCell,
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <TextField
      {...{ label, isLabelHidden, error, autoFocus }}
      type="time"
      isRequired={field.is_required}
      value={value ?? ''}
      onChange={typed => onChange(typed === '' ? null : typed)}
    />
  ),
  Operand: operandOf(TimeOperand),
  text: value => value,
  display: (value, _names, format) => format.time(value),
  parse: typed => (typed.trim() === '' ? null : readTime(typed)),
  width: 90,
  isTime: true,
}
