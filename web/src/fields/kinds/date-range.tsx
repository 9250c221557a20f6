/** DATE_RANGE: two calendar dates (D49). */
import type { Formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import type { Kind } from '../kind.ts'
import { operandOf } from '../operand.tsx'
import { checkRange, nativeEnd, type Range, RangeBox, readRange } from '../range-box.tsx'
import { DateOperand, readDay } from './date.tsx'

const DateEnd = nativeEnd('date', '9999-12-31')

const display = ({ range }: Range, format: Formats) => `${format.date(range.from)} – ${format.date(range.to)}`

export const dateRange: Kind<Range> = {
  Cell: ({ value }) => display(value, useFormat()),
  Input: props => <RangeBox {...props} End={DateEnd} />,
  Operand: operandOf(DateOperand),
  display: (value, _names, format) => display(value, format),
  text: ({ range }) => `${range.from} – ${range.to}`,
  parse: (typed, _field, format) => readRange(typed, end => readDay(end, format?.locale)),
  check: value => checkRange(value, { mayRunBackwards: false }),
  width: 170,
  isTime: true,
}
