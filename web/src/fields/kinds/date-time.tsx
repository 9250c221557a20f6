/** DATE_TIME: a moment, sent in UTC, shown and typed in the account's time zone. */
import type { ComponentProps } from 'react'
import { useFormat } from '../../format/use-format.tsx'
import { Labelled } from '../../ui/inputs.tsx'
import type { Kind, OperandProps } from '../kind.ts'
import { operandOf } from '../operand.tsx'
import { fromWall, toWall } from '../zone.ts'

function MomentCell({ value }: { value: string }) {
  const format = useFormat()
  return (
    <time dateTime={value} title={format.fullMoment(value)} className="tabular">
      {format.moment(value)}
    </time>
  )
}

/** A date and a time of the account's time zone. */
export function MomentBox({
  value,
  onChange,
  ...props
}: Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
  value: string | null
  onChange: (value: string | null) => void
}) {
  const { timeZone } = useFormat()
  return (
    <input
      {...props}
      type="datetime-local"
      max="9999-12-31T23:59"
      value={value ? toWall(value, timeZone) : ''}
      onChange={event => onChange(fromWall(event.target.value, timeZone))}
      className="field-box"
    />
  )
}

export function MomentOperand({ value, onChange, label }: OperandProps) {
  const { timeZone } = useFormat()
  const epoch = /^\d{11,}$/.test(value) ? momentOf(Number(value)) : value
  // A date alone means a day of the account's zone: it begins there.
  const moment = /^\d{4}-\d\d-\d\d$/.test(value) ? fromWall(`${value}T00:00`, timeZone) : epoch
  return <MomentBox aria-label={label} value={moment || null} onChange={moment => onChange(moment ?? '')} />
}

/** Milliseconds since 1970 → ISO 8601; '' if that is beyond what a date can have. */
function momentOf(epoch: number): string {
  const moment = new Date(epoch)
  return Number.isNaN(moment.getTime()) ? '' : moment.toISOString()
}

/** Parses a moment in ISO 8601; without an offset it is in the time zone. */
export function readMoment(text: string, timeZone = 'UTC'): string | undefined {
  const typed = text.trim().replace(' ', 'T')
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(typed)) return undefined
  if (!/(Z|[+-]\d\d:?\d\d)$/i.test(typed)) return fromWall(typed, timeZone) ?? undefined
  const moment = new Date(typed)
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}

export const dateTime: Kind<string> = {
  Cell: MomentCell,
  Input: function MomentInput({ value, onChange, field, label, isLabelHidden, error, autoFocus }) {
    const { timeZone } = useFormat()
    return (
      <Labelled
        {...{ label, isLabelHidden, error }}
        isRequired={field.is_required}
        hint={isLabelHidden ? undefined : `In ${timeZone}`}
      >
        {wiring => <MomentBox {...wiring} autoFocus={autoFocus} value={value} onChange={onChange} />}
      </Labelled>
    )
  },
  Operand: operandOf(MomentOperand),
  display: (value, _names, format) => format.moment(value),
  text: (value, _names, format) => toWall(value, format.timeZone).replace('T', ' '),
  parse: (typed, _field, format) => (typed.trim() === '' ? null : readMoment(typed, format?.timeZone)),
  groups: 'month',
  width: 180,
  isTime: true,
}
