/** DATE_TIME: a moment, kept and returned in UTC with milliseconds (D16). */
import { sql } from '../../sql.ts'
import { scalar } from '../columns.ts'
import type { Kind } from '../field.ts'
import { isoInstant, isoPatterns, writtenTime } from '../iso8601.ts'
import { jsonInstant, moment, momentParam } from '../moment.ts'
import { type Complaint, ordered } from '../operators.ts'
import { epochMilliseconds } from './date.ts'
import { textOf } from './schemas.ts'
import { simpleKind } from './simple.ts'

const instant = simpleKind({
  column: 'timestamptz',
  type: 'timestamptz',
  isText: true,
  operators: ordered,
  parse: (input, context) => {
    const value = isoInstant(writtenTime(input) ?? '')
    return (
      value ??
      context.problem('invalid_date_time', 'must be a real date-time in ISO 8601', {
        hint: 'For example "2026-03-31T09:30:00Z".',
      })
    )
  },
  schema: () => textOf(isoPatterns.date, 'date-time', 'A moment, such as 2026-03-31T09:30:00Z.'),
  write: value => (value === moment ? momentParam : String(value)),
  operand: instantOperand,
})

export const dateTime: Kind = {
  ...instant,
  day: (field, timeZone) => row =>
    sql`(${scalar(field, '', 'timestamptz')(row)} AT TIME ZONE ${timeZone}::text)::date`,
  text: field => row => jsonInstant(scalar(field, '', 'timestamptz')(row)),
}

export function instantOperand(text: string): string | Complaint {
  return (
    epochMilliseconds(text) ??
    isoInstant(text.trim()) ?? {
      message: `"${text}" is not a date-time`,
      hint: 'Give epoch milliseconds or ISO 8601, such as 2026-03-31T09:30:00Z.',
    }
  )
}
