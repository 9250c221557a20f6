/**
 * TIME_RANGE, DATE_RANGE and DATE_TIME_RANGE: {range:{from,to}} (D16). A time range may pass midnight; the
 * others may not run backwards.
 */
import { isObject, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import type { Catalog } from '../catalog.ts'
import { containedAt, type Expression, jsonDocument } from '../columns.ts'
import type { Kind, ParseContext, Schema } from '../field.ts'
import { calendarDate, isoDate, isoInstant, isoPatterns, isoTime, writtenTime } from '../iso8601.ts'
import { type Complaint, ordered } from '../operators.ts'
import { dateOperand } from './date.ts'
import { instantOperand } from './date-time.ts'
import { knownMembers } from './known-members.ts'
import { closed, opened } from './schemas.ts'
import { warnOfSeconds } from './time.ts'

type End = {
  parse(text: string): string | null
  operand(text: string, catalog: Catalog): string | Complaint
  code: string
  message: string
  example: string
  mayRunBackwards: boolean
  /** what an end is sent as, and how it is read */
  sent: string
  read: Schema
  isDate?: boolean
}

export const timeRange = rangeKind({
  parse: isoTime,
  operand: text => isoTime(text.trim()) ?? { message: `"${text}" is not a time` },
  code: 'invalid_time',
  message: 'must be a time in ISO 8601 without offset',
  example: '{"range":{"from":"22:00","to":"06:00"}}',
  mayRunBackwards: true,
  sent: isoPatterns.time,
  read: { pattern: '^\\d\\d:\\d\\d$' },
})

export const dateRange = rangeKind({
  // Plain dates are returned, so they can be written back. A time of day needs its offset (D49).
  parse: text => (isoDate(text) || isoInstant(text, true) ? calendarDate(text) : null),
  operand: dateOperand,
  code: 'invalid_date_time',
  message: 'must be a real date-time in ISO 8601 with an offset or Z',
  example: '{"range":{"from":"2026-03-01T00:00:00Z","to":"2026-03-31T00:00:00Z"}}',
  mayRunBackwards: false,
  sent: isoPatterns.dateOrMoment,
  read: { format: 'date' },
  isDate: true,
})

export const dateTimeRange = rangeKind({
  parse: text => isoInstant(text, true),
  operand: instantOperand,
  code: 'invalid_date_time',
  message: 'must be a real date-time in ISO 8601 with an offset or Z',
  example: '{"range":{"from":"2026-03-01T09:00:00+01:00","to":"2026-03-01T17:00:00+01:00"}}',
  mayRunBackwards: false,
  sent: isoPatterns.moment,
  read: { format: 'date-time' },
})

function rangeKind(end: End): Kind {
  return {
    members: ['from', 'to', 'range.from', 'range.to'],
    columns: field => [{ name: field.internal_name, type: 'jsonb' }],
    parse: (input, context) => parseRange(input, context, end),
    schema: () => {
      const ends = (end: Schema) => ({ from: end, to: end })
      const object = closed({ range: closed(ends({ type: 'string', pattern: end.sent }), ['from', 'to']) }, [
        'range',
      ])
      const text = { type: 'string', pattern: isoPatterns.times }
      const description = `A range, such as ${end.example}.`
      return {
        input: { ...(end.mayRunBackwards ? { anyOf: [object, text] } : object), description },
        output: opened({ range: opened(ends({ type: 'string', ...end.read })) }),
      }
    },
    write: value => [value === null ? null : JSON.stringify(value)],
    term: (field, member) => {
      const name = member.replace(/^range\./, '')
      if (name !== 'from' && name !== 'to' && member !== '') return null
      const at = member === '' ? 'from' : name
      // The ends are stored in a form that sorts as text: dates, and moments in UTC, with all their digits.
      const path = sql.text(`{range,${at}}`)
      const value: Expression = row => sql`(${jsonDocument(field)(row)} #>> ${path})`
      return {
        type: 'text',
        sql: value,
        multi: false,
        operators: ordered,
        operand: end.operand,
        order: { sql: row => sql`${value(row)} COLLATE "C"`, type: 'text' },
        ...containedAt(field, 'text', ['range', at]),
      }
    },
  }
}

function parseRange(input: Json, context: ParseContext, end: End): Json | undefined {
  const object = typeof input === 'string' && end.mayRunBackwards ? textRange(input) : input
  const range = isObject(object) ? object.range : undefined
  if (!isObject(object) || !isObject(range)) {
    return context.problem('wrong_type', 'must be an object with a range', {
      hint: `For example ${end.example}.`,
    })
  }
  const known =
    knownMembers(object, ['range'], context) && knownMembers(range, ['from', 'to'], context, '/range')
  const from = parseEnd(range.from, context, end, '/range/from')
  const to = parseEnd(range.to, context, end, '/range/to')
  if (!known || from === undefined || to === undefined) return undefined
  // A range of dates stores the dates as written, but compares the moments to tell which comes first.
  const backwards = end.isDate ? instant(range.from) > instant(range.to) || from > to : from > to
  if (backwards && !end.mayRunBackwards)
    return context.problem('range_backwards', 'must not end before it begins', { at: '/range' })
  return { range: { from, to } }
}

function parseEnd(input: Json | undefined, context: ParseContext, end: End, at: string): string | undefined {
  if (input === undefined || input === null)
    return context.problem('required', 'must be given', { at, hint: `For example ${end.example}.` })
  const value = end.parse(writtenTime(input) ?? '')
  if (value && end.mayRunBackwards) warnOfSeconds(input, context)
  return value ?? context.problem(end.code, end.message, { at, hint: `For example ${end.example}.` })
}

/** "10:00/12:30" is the same as {range:{from:"10:00",to:"12:30"}} (D16). */
function textRange(text: string): Json {
  const [from, to, ...more] = text.split('/', 3)
  return to === undefined || more.length ? text : { range: { from: from!, to } }
}

function instant(input: Json | undefined): string {
  return isoInstant(String(input)) ?? ''
}
