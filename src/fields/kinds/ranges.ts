/** DATE_RANGE and DATE_TIME_RANGE: {range:{from,to}} (D16), which may not run backwards. */
import type { ProblemCode } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { sql } from '../../sql.ts'
import type { Catalog } from '../catalog.ts'
import { containedAt, type Expression, jsonDocument } from '../columns.ts'
import type { Kind, ParseContext, Schema } from '../field.ts'
import { calendarDate, isoDate, isoInstant, isoPatterns, writtenTime } from '../iso8601.ts'
import { type OperandProblem, ordered, type Term } from '../term.ts'
import { dateOperand } from './date.ts'
import { instantOperand, momentsOfDay } from './date-time.ts'
import { knownMembers } from './known-members.ts'
import { closedObject, openObject } from './schemas.ts'

/** Parser of one end of a range. */
type ReadEnd = { parse(text: string): string | null; code: ProblemCode; message: string; example: string }

type End = ReadEnd & {
  operand(text: string, catalog: Catalog): string | OperandProblem
  spanOf?: Term['spanOf']
  /** the pattern of an end as sent, and its schema as read */
  sent: string
  read: Schema
  isDate?: boolean
}

export const dateRange = rangeKind({
  // Plain dates are returned, so they can be written back. A time of day needs its offset (D49).
  parse: text => (isoDate(text) || isoInstant(text, true) ? calendarDate(text) : null),
  operand: dateOperand,
  code: 'invalid_date_time',
  message: 'must be a real date-time in ISO 8601 with an offset or Z',
  example: '{"range":{"from":"2026-03-01T00:00:00Z","to":"2026-03-31T00:00:00Z"}}',
  sent: isoPatterns.dateOrMoment,
  read: { format: 'date' },
  isDate: true,
})

export const dateTimeRange = rangeKind({
  parse: text => isoInstant(text, true),
  operand: instantOperand,
  spanOf: momentsOfDay,
  code: 'invalid_date_time',
  message: 'must be a real date-time in ISO 8601 with an offset or Z',
  example: '{"range":{"from":"2026-03-01T09:00:00+01:00","to":"2026-03-01T17:00:00+01:00"}}',
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
      const object = closedObject(
        { range: closedObject(ends({ type: 'string', pattern: end.sent }), ['from', 'to']) },
        ['range'],
      )
      return {
        input: { ...object, description: `A range, such as ${end.example}.` },
        output: openObject({ range: openObject(ends({ type: 'string', ...end.read })) }),
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
        ...(end.spanOf && { spanOf: end.spanOf }),
        order: { sql: row => sql`${value(row)} COLLATE "C"`, type: 'text' },
        ...containedAt(field, 'text', ['range', at]),
      }
    },
  }
}

function parseRange(input: Json, context: ParseContext, end: End): Json | undefined {
  const range = parseRangeOf(input, context, end)
  if (!range) return undefined
  const { from, to, sent } = range
  // A range of dates keeps the dates as written. Of one day, two moments can be compared, a plain date not.
  const areMoments = [sent.from, sent.to].every(text => String(text).length > 10)
  const backwards = from > to || (end.isDate && areMoments && instant(sent.from) > instant(sent.to))
  if (backwards) return context.problem('range_backwards', 'must not end before it begins', { at: '/range' })
  return { range: { from, to } }
}

/**
 * The two ends of {range:{from,to}}, in stored form and as `sent`; undefined after a problem. `form`: the
 * message for any other input.
 */
export function parseRangeOf(
  input: Json,
  context: ParseContext,
  end: ReadEnd,
  form = 'must be an object with a range',
): { readonly from: string; readonly to: string; readonly sent: JsonObject } | undefined {
  const range = isObject(input) ? input.range : undefined
  if (!isObject(input) || !isObject(range)) {
    return context.problem('wrong_type', form, { hint: `For example ${end.example}.` })
  }
  const known = [
    knownMembers(input, ['range'], context),
    knownMembers(range, ['from', 'to'], context, '/range'),
  ]
  const from = parseEnd(range.from, context, end, '/range/from')
  const to = parseEnd(range.to, context, end, '/range/to')
  return !known.includes(false) && from !== undefined && to !== undefined
    ? { from, to, sent: range }
    : undefined
}

function parseEnd(input: Json | undefined, context: ParseContext, end: ReadEnd, at: string) {
  if (input === undefined || input === null)
    return context.problem('required', 'must be given', { at, hint: `For example ${end.example}.` })
  const value = end.parse(writtenTime(input) ?? '')
  return value ?? context.problem(end.code, end.message, { at, hint: `For example ${end.example}.` })
}

function instant(input: Json | undefined): string {
  return isoInstant(String(input)) ?? ''
}
