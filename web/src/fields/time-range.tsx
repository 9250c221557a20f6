/** TIME_RANGE: two times of day; it may pass midnight. */
import { useFormat } from '../format/use-format.tsx'
import { TextField } from '../ui/inputs.tsx'
import type { Kind, OperandProps } from './kind.ts'
import { operandOf } from './operand.tsx'
import { checkRange, nativeEnd, type Range, RangeBox, readRange } from './range-box.tsx'
import { readTime } from './time.tsx'

const TimeEnd = nativeEnd('time')

export const timeRange: Kind<Range> = {
  Cell: function TimeRangeCell({ value: { range } }) {
    const format = useFormat()
    return `${format.time(range.from)} – ${format.time(range.to)}`
  },
  Input: props => <RangeBox {...props} End={TimeEnd} />,
  Operand: operandOf(({ value, onChange, label }: OperandProps) => (
    <TextField type="time" label={label} isBare value={value} onChange={onChange} />
  )),
  text: ({ range }) => `${range.from} – ${range.to}`,
  parse: typed => readRange(typed, readTime),
  check: value => checkRange(value, { mayRunBackwards: true }),
  width: 130,
  isTime: true,
}
