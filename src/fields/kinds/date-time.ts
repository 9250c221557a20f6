/** DATE_TIME: a moment, stored and returned in UTC with milliseconds (D16). */
import { type Sql, sql } from '../../sql.ts'
import type { Catalog } from '../catalog.ts'
import { scalar } from '../columns.ts'
import type { Kind } from '../field.ts'
import { isoDate, isoInstant, isoPatterns, writtenDateHint, writtenTime } from '../iso8601.ts'
import { momentIn } from '../local-times.ts'
import { jsonInstant, momentInColumns, momentPlaceholder } from '../moment.ts'
import { type OperandProblem, ordered } from '../term.ts'
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
        hint: writtenDateHint(input, at => at.toISOString()) || 'For example "2026-03-31T09:30:00Z".',
      })
    )
  },
  schema: () => textOf(isoPatterns.date, 'date-time', 'A moment, such as 2026-03-31T09:30:00Z.'),
  write: value => (value === momentPlaceholder ? momentInColumns : String(value)),
  operand: instantOperand,
})

export const dateTime: Kind = {
  ...instant,
  term: (field, member) => {
    const term = instant.term(field, member)
    return term && { ...term, spanOf: momentsOfDay }
  },
  dateSql: (field, timeZone) => row =>
    sql`(${scalar(field, '', 'timestamptz')(row)} AT TIME ZONE ${timeZone}::text)::date`,
  text: field => row => jsonInstant(scalar(field, '', 'timestamptz')(row)),
}

/** The first and the last moment of a plain day in the account's time zone; null for another text. */
export function momentsOfDay(text: string, { account }: Catalog): readonly [string, string] | null {
  const day = isoDate(text.trim())
  if (day === null) return null
  const at = momentIn(account.time_zone)
  // Moments have milliseconds (D16).
  const first = at(day, '00:00:00')
  // If clocks go back at midnight, the last hour of the day comes twice.
  const next = day === lastDay ? null : at(dayAfter(day), '00:00:00')
  const last = next === null ? `${day}T23:59:59.999Z` : new Date(Date.parse(next) - 1).toISOString()
  return first === null ? null : [first, last]
}

/** The moment after one that has milliseconds: after the last one of a day, the day has ended. */
export function momentAfter(moment: string): Sql {
  return sql`(${moment}::timestamptz + interval '1 millisecond')`
}

const lastDay = '9999-12-31'

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}

export function instantOperand(text: string): string | OperandProblem {
  return (
    epochMilliseconds(text) ??
    isoInstant(text.trim()) ?? {
      message: `"${text}" is not a date-time`,
      hint: 'Give epoch milliseconds or ISO 8601, such as 2026-03-31T09:30:00Z.',
    }
  )
}
