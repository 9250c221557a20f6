/** DATE: a calendar date, YYYY-MM-DD; it has no time zone and never becomes a moment (D16). */
import { useFormat } from '../../format/use-format.tsx'
import { TextField } from '../../ui/inputs.tsx'
import type { Kind, OperandProps } from '../kind.ts'
import { operandOf } from '../operand.tsx'

function DateCell({ value }: { value: string }) {
  const format = useFormat()
  return (
    <time dateTime={value} title={format.longDate(value)} className="tabular">
      {format.date(value)}
    </time>
  )
}

export function DateOperand({ value, onChange, label }: OperandProps) {
  return (
    <TextField type="date" max="9999-12-31" label={label} isLabelHidden value={value} onChange={onChange} />
  )
}

/** True if a text is a day of the calendar. */
function isDay(text: string): boolean {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T12:00:00Z`) : null
  return day !== null && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** Parses a day in ISO 8601, or as 31.3.2026 and 3/31/2026; the reader's order decides. */
export function readDay(text: string, locale = 'en-US'): string | undefined {
  const typed = text.trim()
  if (isDay(typed.slice(0, 10)) && /^.{10}($|[T ])/.test(typed)) return typed.slice(0, 10)
  const numbers = /^(\d{1,2})[./\- ]+(\d{1,2})[./\- ]+(\d{4})$/.exec(typed)
  if (!numbers) return undefined
  const parts = new Intl.DateTimeFormat(locale, { timeZone: 'UTC' }).formatToParts(0)
  const isMonthFirst =
    parts.findIndex(({ type }) => type === 'month') < parts.findIndex(({ type }) => type === 'day')
  const [day, month] = isMonthFirst ? [numbers[2]!, numbers[1]!] : [numbers[1]!, numbers[2]!]
  const found = `${numbers[3]}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return isDay(found) ? found : undefined
}

export const date: Kind<string> = {
  Cell: DateCell,
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <TextField
      {...{ label, isLabelHidden, error, autoFocus }}
      type="date"
      max="9999-12-31"
      isRequired={field.is_required}
      value={value ?? ''}
      onChange={typed => onChange(typed === '' ? null : typed)}
    />
  ),
  Operand: operandOf(DateOperand),
  text: value => value,
  display: (value, _names, format) => format.date(value),
  parse: (typed, _field, format) => (typed.trim() === '' ? null : readDay(typed, format?.locale)),
  check: value => (isDay(value) ? undefined : 'Must be a real date.'),
  groups: 'month',
  width: 120,
  isTime: true,
}
