/** TIME: a time of day without offset, stored as HH:MM (D16). As text it sorts and compares as a time. */
import type { Json } from '../../json.ts'
import { textOrder } from '../columns.ts'
import type { ParseContext } from '../field.ts'
import { comparedTime, isoPatterns, isoTime, writtenTime } from '../iso8601.ts'
import { ordered } from '../term.ts'
import { simpleKind } from './simple.ts'

export const time = simpleKind({
  column: 'text',
  type: 'text',
  operators: ordered,
  parse: (input, context) => {
    const value = isoTime(writtenTime(input) ?? '')
    if (value) warnOfSeconds(input, context)
    return (
      value ??
      context.problem('invalid_time', 'must be a time in ISO 8601 without offset', {
        hint: 'For example "09:30".',
      })
    )
  },
  schema: () => ({
    input: { type: 'string', pattern: isoPatterns.time, description: 'A time, such as 09:30.' },
    output: { type: 'string', pattern: '^\\d\\d:\\d\\d$' },
  }),
  operand: text =>
    comparedTime(text.trim()) ?? { message: `"${text}" is not a time`, hint: 'Give HH:MM, such as 09:30.' },
  order: value => textOrder(value),
})

/** Times have a precision of minutes, as in the interface. Dropped seconds cause a warning (D54). */
export function warnOfSeconds(input: Json, context: ParseContext): void {
  if (/:\d\d:[\d.,]*[1-9]/.test(String(input)))
    context.warn('seconds_dropped', `${context.field.internal_name} is kept to the minute`)
}
