/** A month: six weeks of days, each with its first entries. */
import { useFormat } from '../format/use-format.tsx'
import { classes } from '../ui/classes.ts'
import { DayButton } from './day-button.tsx'
import { EntryLink } from './entry-link.tsx'
import { Clocks, type ViewProps } from './week.tsx'

/** Lines of a day; of more entries the last line says how many. */
const lines = 4

export function Month({ days, byDay, isForAll, dayAction, onDay }: ViewProps) {
  const format = useFormat()
  const weekday = new Intl.DateTimeFormat(format.locale, { weekday: 'short', timeZone: 'UTC' })
  // The second week lies in the month.
  const month = days[14]!.slice(0, 7)
  return (
    <div className="calendar-month">
      {days.slice(0, 7).map(day => (
        <div key={day} aria-hidden className="calendar-month-head">
          {weekday.format(new Date(`${day}T12:00:00Z`))}
        </div>
      ))}
      {days.map(day => {
        const entries = byDay.get(day) ?? []
        const shown = entries.length > lines ? entries.slice(0, lines - 1) : entries
        const id = `day-${day}`
        const isOther = !day.startsWith(month)
        return (
          <section
            key={day}
            aria-labelledby={id}
            data-column={day}
            data-day={day}
            className={classes('calendar-cell', isOther && 'bg-sunken')}
          >
            <div className="flex items-center gap-1">
              <DayButton {...{ id, day, dayAction, onDay }} count={entries.length} isSoft={isOther} />
              <Clocks day={day} />
            </div>
            {shown.length > 0 && (
              <ul>
                {shown.map(entry => (
                  <li key={entry.activity.id}>
                    <EntryLink entry={entry} look="line" isForAll={isForAll} />
                  </li>
                ))}
              </ul>
            )}
            {entries.length > shown.length && (
              <button
                type="button"
                className="calendar-more"
                tabIndex={-1}
                data-stop={`more ${day}`}
                onClick={() => onDay(day)}
              >
                +{format.number(entries.length - shown.length)} more
                <span className="unseen"> on {format.longDate(day)}</span>
              </button>
            )}
          </section>
        )
      })}
    </div>
  )
}
