/** DATE_RANGE: two calendar dates (D49). */
import { useFormat } from '../format/use-format.tsx'
import { DateOperand, readDay } from './date.tsx'
import type { Kind } from './kind.ts'
import { operandOf } from './operand.tsx'
import { checkRange, nativeEnd, type Range, RangeBox, readRange } from './range-box.tsx'

const DateEnd = nativeEnd('date', '9999-12-31')

export const dateRange: Kind<Range> = {
  Cell: function DateRangeCell({ value: { range } }) {
    const format = useFormat()
    return `${format.date(range.from)} – ${format.date(range.to)}`
  },
  Input: props => <RangeBox {...props} End={DateEnd} />,
  Operand: operandOf(DateOperand),
  text: ({ range }) => `${range.from} – ${range.to}`,
  parse: (typed, _field, format) => readRange(typed, end => readDay(end, format?.locale)),
  check: value => checkRange(value, { mayRunBackwards: false }),
  width: 170,
  isTime: true,
}
