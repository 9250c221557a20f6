/** A week: a column for each day, with its hours; what is for the whole day stands above. */
import { useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useFormat } from '../format/use-format.tsx'
import { classes } from '../ui/classes.ts'
import { useMinute } from '../ui/minute.ts'
import { DayButton } from './day-button.tsx'
import { clockChange, clockOf, wallOf } from './days.ts'
import { type Entry, type Placed, placed } from './entries.ts'
import { EntryLink } from './entry-link.tsx'

const hours = Array.from({ length: 24 }, (_, hour) => hour)
/** Of more on one day, the first are drawn. */
const mostOfDay = 80
const mostWhole = 4
/** The hour at the top, before anybody scrolls. */
const firstHour = 7

export type ViewProps = {
  days: readonly string[]
  byDay: ReadonlyMap<string, readonly Entry[]>
  isForAll: boolean
  /** what a press on the name of a day does, in words and in deed */
  dayAction: string
  onDay: (day: string) => void
}

export function Week({ days, byDay, isForAll, dayAction, onDay }: ViewProps) {
  const format = useFormat()
  const hasClocks = days.some(day => clockChange(day, format.timeZone) !== null)
  const first = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const scroller = first.current?.closest<HTMLElement>('[data-calendar]')
    if (scroller) scroller.scrollTop = (first.current!.offsetHeight / 24) * firstHour
  }, [])
  // The height of what is for the whole day, below which the texts of entries stay.
  useLayoutEffect(() => {
    const week = first.current?.parentElement
    const whole = week?.querySelector<HTMLElement>('.calendar-whole')
    week?.style.setProperty('--whole', `${whole?.offsetHeight ?? 0}px`)
  })
  return (
    <div className={classes('calendar-week', hasClocks && 'has-clocks')}>
      <div aria-hidden className="calendar-hours" ref={first}>
        {hours.slice(1).map(hour => (
          <span key={hour} className="tabular" style={{ top: `${(hour / 24) * 100}%` }}>
            {format.time(clockOf(hour * 60))}
          </span>
        ))}
      </div>
      <div aria-hidden className="calendar-corner" />
      {days.map((day, index) => {
        const entries = byDay.get(day) ?? []
        const whole = entries.filter(({ time }) => time === null)
        const timed = placed(entries.filter(({ time }) => time !== null).slice(0, mostOfDay))
        const unseen = Math.max(0, entries.length - whole.length - mostOfDay)
        const id = `day-${day}`
        return (
          <section
            key={day}
            aria-labelledby={id}
            className="calendar-day"
            style={{ gridColumn: index + 2 }}
            data-column={day}
          >
            <div className="calendar-day-head">
              <DayButton {...{ id, day, dayAction, onDay }} count={entries.length} isWide />
              <Clocks day={day} />
            </div>
            <div className="calendar-whole" data-day={day}>
              {whole.length > 0 && <WholeDay entries={whole} isForAll={isForAll} />}
            </div>
            <div className="calendar-time" data-day={day} data-hours>
              {timed.length > 0 && (
                <ul>
                  {timed.map(entry => (
                    <li key={entry.activity.id} style={placeOf(entry)}>
                      <EntryLink entry={entry} look="block" isForAll={isForAll} />
                    </li>
                  ))}
                </ul>
              )}
              {unseen > 0 && <Unshown count={unseen} />}
              {day === format.today() && <Now />}
            </div>
          </section>
        )
      })}
    </div>
  )
}

/** The first few entries of the whole day, and all by a button. */
function WholeDay({ entries, isForAll }: { entries: readonly Entry[]; isForAll: boolean }) {
  const format = useFormat()
  const [isAll, setAll] = useState(false)
  const list = useRef<HTMLUListElement>(null)
  const left = entries.length - mostWhole
  const showAll = () => {
    flushSync(() => setAll(true))
    list.current?.querySelectorAll('a')[mostWhole]?.focus()
  }
  return (
    <>
      <ul ref={list} className={isAll ? 'max-h-[40vh] overflow-y-auto' : undefined}>
        {entries.slice(0, isAll ? undefined : mostWhole).map(entry => (
          <li key={entry.activity.id}>
            <EntryLink entry={entry} look="line" isForAll={isForAll} />
          </li>
        ))}
      </ul>
      {left > 0 && !isAll && (
        <button
          type="button"
          onClick={showAll}
          className="relative min-h-6 cursor-pointer bg-surface px-1 text-sm text-ink-soft hover:underline"
        >
          and {format.counted(left, 'other', 'others')}
        </button>
      )}
    </>
  )
}

function placeOf({ time, lane, lanes }: Placed) {
  // When clocks go back, it may end at an earlier time of day.
  const minutes = Math.max(15, time.to - time.from)
  return {
    top: `${(time.from / 1440) * 100}%`,
    height: `${(minutes / 1440) * 100}%`,
    insetInlineStart: `${(lane / lanes) * 100}%`,
    width: `${100 / lanes}%`,
  }
}

function Unshown({ count }: { count: number }) {
  const format = useFormat()
  return (
    <p className="relative bg-surface px-1 text-sm text-ink-soft">
      and {format.counted(count, 'other', 'others')}
    </p>
  )
}

/** Says that this is a day on which the clocks change. */
export function Clocks({ day, className }: { day: string; className?: string }) {
  const { timeZone } = useFormat()
  const change = clockChange(day, timeZone)
  return change && <p className={classes('truncate text-xs text-ink-soft', className)}>{change}</p>
}

function Now() {
  const { timeZone } = useFormat()
  const { minutes } = wallOf(useMinute(), timeZone)
  return <div aria-hidden className="calendar-now" style={{ top: `${(minutes / 1440) * 100}%` }} />
}
