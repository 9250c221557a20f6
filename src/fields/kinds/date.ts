/** DATE: a calendar date, kept as written and never moved through UTC (D16). */
import type { Catalog } from '../catalog.ts'
import { type Complaint, ordered, simpleKind } from '../field.ts'
import { calendarDate, instantOfEpoch } from '../iso8601.ts'

export const date = simpleKind({
  column: 'date',
  type: 'date',
  operators: ordered,
  parse: (input, place) => {
    const value = typeof input === 'string' ? calendarDate(input.trim()) : null
    return value ?? place.problem('invalid_date', 'must be a real date in ISO 8601', { hint: 'For example "2026-03-31".' })
  },
  operand: (text, _field, catalog) => dateOperand(text, catalog),
})

/** A date as written, or the calendar date of an epoch in the account's time zone (D31). */
function dateOperand(text: string, catalog: Catalog): string | Complaint {
  const epoch = epochMilliseconds(text)
  if (epoch === null) {
    return calendarDate(text.trim()) ?? { message: `"${text}" is not a date`, hint: 'Give 2026-03-31 or epoch milliseconds.' }
  }
  if (typeof epoch !== 'string') return epoch
  return new Intl.DateTimeFormat('en-CA', { timeZone: catalog.account.time_zone, dateStyle: 'short' }).format(new Date(epoch))
}

/** UTC text of epoch milliseconds; null when `text` is no number; a complaint for seconds, which are a likely mistake (D31). */
export function epochMilliseconds(text: string): string | Complaint | null {
  if (!/^-?\d{5,}$/.test(text.trim())) return null
  if (/^\d{10}$/.test(text.trim())) {
    return { message: `${text} looks like seconds since 1970; times are milliseconds`, hint: `Did you mean ${text.trim()}000?` }
  }
  return instantOfEpoch(Number(text)) ?? { message: `${text} is beyond the year 9999` }
}
