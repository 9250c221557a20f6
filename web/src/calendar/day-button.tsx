/** The name of a day, as its heading; a press on it does what the view says. */
import { useFormat } from '../format/use-format.tsx'
import { classes } from '../ui/classes.ts'

export function DayButton(props: {
  id: string
  day: string
  count: number
  dayAction: string
  onDay: (day: string) => void
  /** with the day of the week */
  isWide?: boolean
  isSoft?: boolean
}) {
  const { id, day, count, dayAction, onDay, isWide = false, isSoft = false } = props
  const format = useFormat()
  const isToday = day === format.today()
  const noon = new Date(`${day}T12:00:00Z`)
  const weekday = new Intl.DateTimeFormat(format.locale, { weekday: 'short', timeZone: 'UTC' }).format(noon)
  return (
    <h2 id={id} className="min-w-0 font-normal">
      <button
        type="button"
        data-stop={day}
        tabIndex={-1}
        title={dayAction}
        onClick={() => onDay(day)}
        className={classes('calendar-day-button', isToday && 'is-today', isSoft && 'text-ink-faint')}
        aria-current={isToday ? 'date' : undefined}
      >
        <span aria-hidden className="inline-flex items-center gap-1.5">
          {isWide && <span>{weekday}</span>}
          <span className="number tabular">{Number(day.slice(8))}</span>
        </span>
        <span className="unseen">
          {format.longDate(day)}, {format.counted(count, 'activity', 'activities')}
        </span>
      </button>
    </h2>
  )
}
