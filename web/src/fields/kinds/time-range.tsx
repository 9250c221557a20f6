/** TIME_RANGE: two times of day, "09:00/17:30"; it may pass midnight. */
import type { Formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import type { Kind } from '../kind.ts'
import { operandOf } from '../operand.tsx'
import { checkRange, nativeEnd, type Range, RangeBox, readRange } from '../range-box.tsx'
import { readTime, TimeOperand } from './time.tsx'

const TimeEnd = nativeEnd('time')

function rangeOf(times: string): Range {
  const [from = '', to = ''] = times.split('/')
  return { range: { from, to } }
}

function timesOf({ range: { from, to } }: Range): string {
  return `${from}/${to}`
}

function display(times: string, format: Formats): string {
  const { from, to } = rangeOf(times).range
  return `${format.time(from)} – ${format.time(to)}`
}

export const timeRange: Kind<string> = {
  Cell: ({ value }) => display(value, useFormat()),
  Input: ({ value, onChange, ...props }) => (
    <RangeBox
      {...props}
      value={value === null ? null : rangeOf(value)}
      onChange={range => onChange(range && timesOf(range))}
      End={TimeEnd}
    />
  ),
  Operand: operandOf(TimeOperand),
  display: (value, _names, format) => display(value, format),
  text: value => value.replace('/', ' – '),
  parse: typed => {
    const range = readRange(typed, readTime)
    return range && timesOf(range)
  },
  check: value => checkRange(rangeOf(value), { mayRunBackwards: true }),
  width: 130,
  isTime: true,
}
