/** The state of the calendar, which its address has, and its reactions to keys and pointer. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type KeyboardEvent, type RefObject, useMemo, useState } from 'react'
import { daysBetween } from '../activities/next-days.ts'
import { useWhose } from '../activities/whose.tsx'
import { useFormat } from '../format/use-format.tsx'
import { useMe, useReadOnlyReason } from '../shell/me.ts'
import { openNew } from '../shell/new-record.tsx'
import { useMinute } from '../ui/minute.ts'
import { useMedia } from '../ui/use-media.ts'
import { useCalendarCommands } from './calendar-commands.ts'
import { dayOf, firstWeekday, momentOf, monthOf, shifted, type View, weekOf } from './days.ts'
import { type Entry, type Slot, slotAfter, slotWith } from './entries.ts'
import { drawn, quarter, useCalendarDrag } from './use-calendar-drag.ts'
import { useEntries } from './use-entries.ts'
import { type Arrow, isArrow, stopBeside, useStops } from './use-stops.ts'

const [meetingKind, taskKind] = [2, 3]

/** The view and its days, as the address says. */
function useAddress() {
  const format = useFormat()
  const navigate = useNavigate()
  const search = useSearch({ strict: false })
  // The next day may begin while the page is open.
  useMinute()
  const today = format.today()
  const view: View = search.view === 'month' ? 'month' : 'week'
  const day = dayOf(search.date, today)
  const days = useMemo(
    () => (view === 'week' ? weekOf : monthOf)(day, firstWeekday(format.locale)),
    [view, day, format],
  )
  const go = (to: { view?: View; date?: string }) => {
    const [nextView, date] = [to.view ?? view, to.date ?? day]
    const asked = {
      view: nextView === 'week' ? undefined : nextView,
      date: date === today ? undefined : date,
    }
    void navigate({ to: '.', search: (now: object) => ({ ...now, ...asked }), replace: true } as never)
  }
  return { today, view, day, days, go }
}

/** Opens the dialog for something new: over hours a meeting, else a task for the days. */
function useAdd() {
  const me = useMe()
  const { timeZone } = useFormat()
  const { owner } = useWhose()
  return (from: Slot, to: Slot = from) => {
    const mine = { owner: owner ?? me.user.id }
    if (from.minutes !== null && to.minutes !== null) {
      const [begin, end] = drawn(from.minutes, to.minutes)
      const due_at = momentOf(from.day, begin, timeZone)
      return openNew('activity', { ...mine, kind: meetingKind, due_at, duration: end - begin })
    }
    const [first, last] = [from.day, to.day].sort() as [string, string]
    const count = daysBetween(first, last) + 1
    const length = count > 1 ? { duration: count * 1440 } : {}
    openNew('activity', { ...mine, kind: taskKind, due_at: momentOf(first, 0, timeZone), ...length })
  }
}

export function useCalendar(calendar: RefObject<HTMLElement | null>) {
  const { timeZone } = useFormat()
  const reason = useReadOnlyReason('activity')
  const isNarrow = useMedia('(max-width: 639px)')
  /** the entry of which the dialog asks where it goes */
  const [asked, setAsked] = useState<Entry | null>(null)
  const { today, view, day, days, go } = useAddress()
  const { read, byDay, cut, move } = useEntries(days)
  const stops = useStops(calendar, days.includes(today) ? today : days[0]!)
  const add = useAdd()
  const entryOf = (element: Element | null) => {
    const [id, on] = (element as HTMLElement | null)?.dataset?.stop?.split(' ') ?? []
    return byDay.get(on ?? '')?.find(({ activity }) => activity.id === Number(id)) ?? null
  }
  const moveEntry = (entry: Entry, to: Slot) => {
    stops.follow(entry.activity.id)
    if (!days.includes(to.day)) go({ date: to.day })
    move(entry.activity, to)
  }
  const step = (entry: Entry, arrow: Arrow) => {
    const later = arrow === 'ArrowRight' || arrow === 'ArrowDown' ? 1 : -1
    const isAcross = arrow === 'ArrowLeft' || arrow === 'ArrowRight'
    const [byDays, minutes] = isAcross ? [later, 0] : view === 'month' ? [7 * later, 0] : [0, quarter * later]
    moveEntry(entry, slotAfter(entry.activity, byDays, minutes, timeZone))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const stop = (event.target as Element).closest<HTMLElement>('[data-stop]')
    if (!stop || !isArrow(event.key) || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (!event.shiftKey) return stopBeside(stop, event.key)?.focus()
    const entry = entryOf(stop)
    if (entry && !reason) step(entry, event.key)
  }
  useCalendarDrag(calendar, !reason, {
    onMove: (element, to) => {
      const entry = entryOf(element)
      if (!entry) return
      // A day without hours keeps the time; what stands above the hours of a week has none.
      const hasHours = view === 'week' && !isNarrow
      const minutes = hasHours ? to.minutes : (entry.time?.from ?? null)
      move(entry.activity, slotWith(entry, { day: to.day, minutes }, timeZone))
    },
    onDraw: add,
  })
  const addHere = () => {
    const focused = document.activeElement?.closest<HTMLElement>('[data-column]')?.dataset.column
    add({ day: focused ?? day, minutes: null })
  }
  const goBy = (by: 1 | -1) => go({ date: shifted(view, day, by) })
  const onToday = () => go({ date: today })
  const onView = (chosen: View) => go({ view: chosen })
  const ask = () => setAsked(entryOf(document.activeElement))
  useCalendarCommands({ reason, onToday, onView, goBy, add: addHere, ask })
  return {
    ...{ view, day, days, read, byDay, cut, isNarrow, asked, setAsked, moveEntry },
    ...{ addHere, goBy, onToday, onView, onKeyDown, stops },
    /** a press on the name of a day */
    onDay: (one: string) =>
      view === 'week' ? add({ day: one, minutes: null }) : go({ view: 'week', date: one }),
  }
}
