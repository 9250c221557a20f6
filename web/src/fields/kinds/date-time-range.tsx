/** DATE_TIME_RANGE: two moments, shown and typed in the account's time zone. */
import type { Formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import type { Kind } from '../kind.ts'
import { operandOf } from '../operand.tsx'
import { checkRange, type Range, RangeBox, readRange } from '../range-box.tsx'
import { toWall } from '../zone.ts'
import { MomentBox, MomentOperand, readMoment } from './date-time.tsx'

const wall = (iso: string, timeZone: string) => toWall(iso, timeZone).replace('T', ' ')

const display = ({ range }: Range, format: Formats) =>
  `${format.moment(range.from)} – ${format.moment(range.to)}`

export const dateTimeRange: Kind<Range> = {
  Cell: ({ value }) => display(value, useFormat()),
  Input: function DateTimeRangeInput(props) {
    const { timeZone } = useFormat()
    return <RangeBox {...props} End={MomentBox} hint={`In ${timeZone}`} />
  },
  Operand: operandOf(MomentOperand),
  display: (value, _names, format) => display(value, format),
  text: ({ range }, _names, { timeZone }) => `${wall(range.from, timeZone)} – ${wall(range.to, timeZone)}`,
  parse: (typed, _field, format) => readRange(typed, end => readMoment(end, format?.timeZone)),
  check: value => checkRange(value, { mayRunBackwards: false }),
  width: 280,
  isTime: true,
}
