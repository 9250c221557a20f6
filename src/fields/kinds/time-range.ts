/** TIME_RANGE: two times of day, stored as "09:00/17:30" (D16), as in the interface. It may pass midnight. */
import { isObject, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { type Expression, scalar } from '../columns.ts'
import type { Kind, ParseContext } from '../field.ts'
import { comparedTime, isoPatterns, isoTime } from '../iso8601.ts'
import { ordered } from '../term.ts'
import { parseRangeOf } from './ranges.ts'
import { closedObject } from './schemas.ts'
import { warnOfSeconds } from './time.ts'

const end = {
  parse: isoTime,
  code: 'invalid_time',
  message: 'must be a time in ISO 8601 without offset',
  example: '"22:00/06:00"',
} as const

export const timeRange: Kind = {
  members: ['from', 'to', 'range.from', 'range.to'],
  columns: field => [{ name: field.internal_name, type: 'text' }],
  parse: parseTimeRange,
  schema: () => {
    const time = { type: 'string', pattern: isoPatterns.time }
    const object = closedObject({ range: closedObject({ from: time, to: time }, ['from', 'to']) }, ['range'])
    const text = { type: 'string', pattern: isoPatterns.times }
    return {
      input: { anyOf: [text, object], description: `A time range, such as ${end.example}.` },
      output: { type: 'string', pattern: '^\\d\\d:\\d\\d/\\d\\d:\\d\\d$' },
    }
  },
  write: value => [value === null ? null : String(value)],
  term: (field, member) => {
    const name = member.replace(/^range\./, '')
    if (name !== 'from' && name !== 'to' && member !== '') return null
    const whole = scalar(field, '', 'text')
    const place = sql.integer(name === 'to' ? 2 : 1)
    const end: Expression = row => sql`NULLIF(split_part(${whole(row)}, '/', ${place}), '')`
    const value = member === '' ? whole : end
    return {
      type: 'text',
      sql: value,
      multi: false,
      operators: ordered,
      operand: text =>
        (member === '' ? wholeRange(text) : null) ??
        comparedTime(text.trim()) ?? {
          message: `"${text}" is not a time${member === '' ? ', nor a range of times' : ''}`,
          hint: member === '' ? 'Give 22:00/06:00, or 22:00 for all that begin then.' : 'Give HH:MM.',
        },
      // A time means all ranges that begin then.
      ...(member === '' && { spanOf: rangesFrom }),
      order: { sql: row => sql`${value(row)} COLLATE "C"`, type: 'text' },
    }
  },
}

/** "22:00:00/06:00" → "22:00/06:00"; null for another text. */
function wholeRange(text: string): string | null {
  const ends = text.trim().split('/').map(comparedTime)
  return ends.length === 2 && ends.every(end => end !== null) ? ends.join('/') : null
}

/** The first and the last range that begins at a time; null for another text. */
function rangesFrom(text: string): readonly [string, string] | null {
  const from = comparedTime(text.trim())
  return from?.length === 5 ? [`${from}/00:00`, `${from}/23:59`] : null
}

function parseTimeRange(input: Json, context: ParseContext): Json | undefined {
  const object = typeof input === 'string' ? endsOf(input) : input
  const range = parseRangeOf(object, context, end, 'must be two times')
  if (!range) return undefined
  warnOfSeconds(isObject(input) ? JSON.stringify(input) : input, context)
  return `${range.from}/${range.to}`
}

/** "10:00/12:30" as {range:{from:"10:00",to:"12:30"}}, which is also valid input. */
function endsOf(text: string): Json {
  const [from, to, ...more] = text.split('/', 3)
  return to === undefined || more.length ? text : { range: { from: from!, to } }
}
