/** The calendar: a week or a month of activities. The address has the view, the day and whose they are. */
import { CalendarPlus, ChevronLeft, ChevronRight, Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { useWhose, WhoseSelect } from '../activities/whose.tsx'
import { useFormat } from '../format/use-format.tsx'
import { useReadOnlyReason } from '../shell/me.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { EmptyState, Skeleton } from '../ui/elements.tsx'
import { PageHead } from '../ui/page.tsx'
import { Agenda } from './agenda.tsx'
import type { View } from './days.ts'
import { Month } from './month.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { Subscribe } from './subscribe.tsx'
import { useCalendar } from './use-calendar.ts'
import { ViewChoice } from './view-choice.tsx'
import { Week } from './week.tsx'

export function Calendar() {
  const format = useFormat()
  const reason = useReadOnlyReason('activity')
  const noTokens = useReadOnlyReason('token')
  const { owner } = useWhose()
  const calendar = useRef<HTMLDivElement>(null)
  const [isSubscribing, setSubscribing] = useState(false)
  const { view, day, days, read, byDay, cut, isNarrow, stops, ...shows } = useCalendar(calendar)
  const isWeek = view === 'week'
  const dayAction = isWeek ? 'New activity on this day' : 'Show the week of this day'
  const shown = { days, byDay, isForAll: owner === null, dayAction, onDay: shows.onDay }
  const ofMonth = days.filter(one => one.startsWith(day.slice(0, 7)))
  return (
    <main className="flex min-h-0 grow flex-col">
      <PageHead title="Calendar" detail={<Range {...{ view, day, days }} />}>
        <div className="flex items-center">
          <IconButton label={`Previous ${view}`} onPress={() => shows.goBy(-1)}>
            <ChevronLeft size={16} aria-hidden />
          </IconButton>
          <Button onPress={shows.onToday}>Today</Button>
          <IconButton label={`Next ${view}`} onPress={() => shows.goBy(1)}>
            <ChevronRight size={16} aria-hidden />
          </IconButton>
        </div>
        <ViewChoice view={view} onChange={shows.onView} />
        <div className="w-36">
          <WhoseSelect />
        </div>
        <Button reason={noTokens} onPress={() => setSubscribing(true)}>
          <CalendarPlus size={14} aria-hidden /> Subscribe
        </Button>
        <Button variant="primary" reason={reason} onPress={shows.addHere}>
          <Plus size={15} aria-hidden /> New activity
        </Button>
      </PageHead>
      {cut && (
        <p role="status" className="px-4 pb-2 text-warn">
          The first {format.number(cut.shown)} of {format.total(cut.total, cut.totalIsEstimate)} activities
          are shown, up to {format.date(format.dateOf(cut.last))}. Choose a person or a week to see the
          others.
        </p>
      )}
      {read.isError && (
        <EmptyState title="The activities could not be read.">
          <Button onPress={() => void read.refetch()}>Try again</Button>
        </EmptyState>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it hears keys and pointer for all entries */}
      <div
        ref={calendar}
        data-calendar={view}
        aria-busy={read.isPending}
        className="relative min-h-0 grow overflow-auto border-line sm:border-t"
        onKeyDown={shows.onKeyDown}
        onFocus={({ target }) => stops.onFocus(target)}
        onBlur={({ relatedTarget }) => stops.onBlur(relatedTarget)}
      >
        {read.isPending && <Skeleton className="absolute inset-x-4 top-24 h-64" />}
        {isNarrow ? (
          <Agenda
            {...shown}
            days={isWeek ? days : ofMonth}
            isReady={!read.isPending}
            hasAll={isWeek}
            reason={reason}
            onAskMove={shows.setAsked}
          />
        ) : isWeek ? (
          <Week {...shown} />
        ) : (
          <Month {...shown} />
        )}
      </div>
      {isSubscribing && <Subscribe onClose={() => setSubscribing(false)} />}
      {shows.asked && (
        <MoveDialog
          entry={shows.asked}
          onMove={to => shows.moveEntry(shows.asked!, to)}
          onClose={() => shows.setAsked(null)}
        />
      )}
    </main>
  )
}

/** Jun 15 – 21, 2026, or June 2026 */
function Range({ view, day, days }: { view: View; day: string; days: readonly string[] }) {
  const { locale } = useFormat()
  const noon = (date: string) => new Date(`${date}T12:00:00Z`)
  if (view === 'month') {
    const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
    return month.format(noon(day))
  }
  const week = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  return week.formatRange(noon(days[0]!), noon(days.at(-1)!))
}
