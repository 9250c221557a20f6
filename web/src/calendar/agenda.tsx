/** The days of a week or a month as a list, for a phone. */
import { CalendarClock } from 'lucide-react'
import { useEffect } from 'react'
import { useFormat } from '../format/use-format.tsx'
import { IconButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import type { Entry } from './entries.ts'
import { EntryLink } from './entry-link.tsx'
import { Clocks, type ViewProps } from './week.tsx'

/** Of more on one day, the first are drawn. */
const mostOfDay = 80

export function Agenda(
  props: Omit<ViewProps, 'dayAction' | 'onDay'> & {
    /** false while the entries are read */
    isReady: boolean
    /** days without entries, too */
    hasAll: boolean
    reason: string | undefined
    onAskMove: (entry: Entry) => void
  },
) {
  const { days, byDay, isForAll, isReady, hasAll, reason, onAskMove } = props
  const format = useFormat()
  useEffect(() => {
    if (isReady) document.querySelector('[data-today]')?.scrollIntoView()
  }, [isReady])
  const isShown = (day: string) => hasAll || day === format.today() || (byDay.get(day) ?? []).length > 0
  return (
    <div className="flex flex-col gap-4 px-4 pb-8">
      {days.filter(isShown).map(day => {
        const entries = byDay.get(day) ?? []
        const id = `day-${day}`
        return (
          <section
            key={day}
            aria-labelledby={id}
            data-day={day}
            data-column={day}
            data-today={day === format.today() || undefined}
            className="rounded-md"
          >
            <h2
              id={id}
              tabIndex={-1}
              data-stop={day}
              className={classes('pb-1 text-base', day === format.today() && 'text-accent')}
            >
              {format.longDate(day)}
              {day === format.today() && <span className="font-normal"> · today</span>}
            </h2>
            <Clocks day={day} className="pb-1" />
            {isReady && entries.length === 0 && <p className="text-ink-soft">Nothing planned.</p>}
            {entries.length > 0 && (
              <ul className="divide-y divide-line rounded-md border border-line bg-surface">
                {entries.slice(0, mostOfDay).map(entry => (
                  <li key={entry.activity.id} className="flex items-center pr-1">
                    <EntryLink entry={entry} look="row" isForAll={isForAll} />
                    <IconButton
                      label={`Move “${entry.title}”`}
                      reason={reason}
                      onPress={() => onAskMove(entry)}
                    >
                      <CalendarClock size={15} aria-hidden />
                    </IconButton>
                  </li>
                ))}
              </ul>
            )}
            {entries.length > mostOfDay && (
              <p className="pt-1 text-ink-soft">
                and {format.counted(entries.length - mostOfDay, 'other', 'others')}
              </p>
            )}
          </section>
        )
      })}
    </div>
  )
}
