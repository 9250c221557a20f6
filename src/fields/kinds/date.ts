/** DATE: a calendar date, stored as written and never moved through UTC (D16). */
import type { Catalog } from '../catalog.ts'
import { scalar } from '../columns.ts'
import type { Kind } from '../field.ts'
import {
  calendarDate,
  dateIn,
  instantOfEpoch,
  isoPatterns,
  writtenDateHint,
  writtenTime,
} from '../iso8601.ts'
import { type OperandProblem, ordered } from '../term.ts'
import { textOf } from './schemas.ts'
import { simpleKind } from './simple.ts'

const plainDate = simpleKind({
  column: 'date',
  type: 'date',
  isText: true,
  operators: ordered,
  parse: (input, context) => {
    const value = calendarDate(writtenTime(input) ?? '')
    const zone = context.catalog.account.time_zone
    return (
      value ??
      context.problem('invalid_date', 'must be a real date in ISO 8601', {
        hint: writtenDateHint(input, at => dateIn(zone, at)) || 'For example "2026-03-31".',
      })
    )
  },
  schema: () => textOf(isoPatterns.date, 'date', 'A date, such as 2026-03-31.'),
  operand: (text, _field, catalog) => dateOperand(text, catalog),
})

export const date: Kind = {
  ...plainDate,
  dateSql: field => scalar(field, '', 'date'),
  unique: {
    member: '',
    compared: text => text,
    key: text => text,
    texts: value => (typeof value === 'string' ? [value] : []),
    value: text => calendarDate(text.trim()),
  },
}

/** A date as written, or the calendar date of an epoch in the account's time zone (D31). */
export function dateOperand(text: string, { account }: Catalog): string | OperandProblem {
  const epoch = epochMilliseconds(text)
  if (epoch === null) {
    return (
      calendarDate(text.trim()) ?? {
        message: `"${text}" is not a date`,
        hint: 'Give 2026-03-31 or epoch milliseconds.',
      }
    )
  }
  return typeof epoch === 'string' ? (dateIn(account.time_zone, new Date(epoch)) ?? outOfYears(text)) : epoch
}

/**
 * UTC text of epoch milliseconds; null if `text` is not a number; a complaint for a number that probably
 * means something else (D31).
 */
export function epochMilliseconds(text: string): string | OperandProblem | null {
  const number = text.trim()
  if (!/^-?\d+$/.test(number)) return null
  if (/^\d{10}$/.test(number)) {
    return {
      message: `${number} looks like seconds since 1970; times are milliseconds`,
      hint: `Did you mean ${number}000?`,
    }
  }
  if (/^(19|20)\d\d(\d{4})?$/.test(number)) {
    return {
      message: `${number} looks like a year or a date; a bare number is milliseconds since 1970`,
      hint: 'Write 2026-03-31.',
    }
  }
  return instantOfEpoch(Number(number)) ?? outOfYears(number)
}

function outOfYears(number: string): OperandProblem {
  return { message: `${number} is not within the years 1 to 9999` }
}
