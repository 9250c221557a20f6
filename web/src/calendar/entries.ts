/** Activities as entries of a calendar: on which days they are, when, and what they clash with. Pure. */
import { addDays, daysBetween } from '../activities/next-days.ts'
import type { AnyRecord } from '../api/api.ts'
import { momentOf, wallOf } from './days.ts'

/** A part of an activity, on one day. */
export type Entry = {
  readonly activity: AnyRecord
  readonly title: string
  readonly isDone: boolean
  readonly isMeeting: boolean
  readonly day: string
  /** null: it is for the whole day */
  readonly time: { readonly from: number; readonly to: number } | null
  /** True if it began on an earlier day */
  readonly isContinued: boolean
  /** True if it goes on on a later day */
  readonly goesOn: boolean
  /** titles of the meetings of the same person at the same time */
  readonly clashes: readonly string[]
}

/** An entry beside others of the same time: the nth of so many lanes. */
export type Placed = Entry & {
  readonly time: { readonly from: number; readonly to: number }
  readonly lane: number
  readonly lanes: number
}

export const minutesOfDay = 1440
/** An activity without a duration is drawn as if it took half an hour. */
const shownMinutes = 30
const meetingKind = 2

const titleOf = ({ subject }: AnyRecord) => String(subject)

export const minutesOf = (activity: AnyRecord): number => Number(activity.duration ?? 0)

/** True for what is due at midnight and takes no time, or whole days: it is for the day (D160). */
export function isForDay(activity: AnyRecord, timeZone: string): boolean {
  const isWhole = minutesOf(activity) % minutesOfDay === 0
  return isWhole && wallOf(String(activity.due_at), timeZone).minutes === 0
}

/** The entries of each of these days: those for the day first, then by time. */
export function entriesByDay(
  activities: readonly AnyRecord[],
  days: readonly string[],
  timeZone: string,
): ReadonlyMap<string, readonly Entry[]> {
  const clashes = clashesOf(activities)
  const found = new Map<string, Entry[]>(days.map(day => [day, []]))
  for (const activity of activities) {
    const parts = partsOf(activity, timeZone)
    for (const [index, { day, time }] of parts.entries())
      found.get(day)?.push({
        ...{ activity, day, time, title: titleOf(activity), isDone: Boolean(activity.done_at) },
        isMeeting: activity.kind === meetingKind,
        ...{ isContinued: index > 0, goesOn: index < parts.length - 1 },
        clashes: clashes.get(activity.id) ?? [],
      })
  }
  for (const entries of found.values())
    entries.sort((one, other) => startOf(one) - startOf(other) || one.activity.id - other.activity.id)
  return found
}

const startOf = ({ time }: Entry) => time?.from ?? -1

type Part = Pick<Entry, 'day' | 'time'>

/** At most so many days of an activity are shown: a duration may be a year. */
export const partsMax = 60

function partsOf(activity: AnyRecord, timeZone: string): Part[] {
  const due = String(activity.due_at)
  const begin = wallOf(due, timeZone)
  const minutes = minutesOf(activity)
  if (isForDay(activity, timeZone)) {
    const count = Math.min(Math.max(1, minutes / minutesOfDay), partsMax)
    return Array.from({ length: count }, (_, index) => ({ day: addDays(begin.day, index), time: null }))
  }
  const end = wallOf(new Date(Date.parse(due) + (minutes || shownMinutes) * 60_000).toISOString(), timeZone)
  const parts: Part[] = []
  for (let day = begin.day; day <= end.day && parts.length < partsMax; day = addDays(day, 1)) {
    const from = day === begin.day ? begin.minutes : 0
    const to = day === end.day ? end.minutes : minutesOfDay
    if (day === begin.day || to > 0) parts.push({ day, time: { from, to } })
  }
  return parts
}

/** Meeting → titles of the open meetings of the same person that are at the same moments. */
function clashesOf(activities: readonly AnyRecord[]): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>()
  const meetings = activities
    .filter(({ kind, done_at, owner }) => kind === meetingKind && !done_at && typeof owner === 'number')
    .map(activity => {
      const from = Date.parse(String(activity.due_at))
      return { activity, from, to: from + (minutesOf(activity) || shownMinutes) * 60_000 }
    })
    .sort((one, other) => one.from - other.from)
  const note = (of: AnyRecord, with_: AnyRecord) => {
    const known = found.get(of.id) ?? []
    known.push(titleOf(with_))
    found.set(of.id, known)
  }
  for (const [index, one] of meetings.entries()) {
    for (const other of meetings.slice(index + 1)) {
      if (other.from >= one.to) break
      if (other.activity.owner !== one.activity.owner) continue
      note(one.activity, other.activity)
      note(other.activity, one.activity)
    }
  }
  return found
}

/** The timed entries of a day, side by side where they overlap. They come by time. */
export function placed(entries: readonly Entry[]): Placed[] {
  const done: Placed[] = []
  let group: Omit<Placed, 'lanes'>[] = []
  let ends: number[] = []
  const close = () => {
    done.push(...group.map(entry => ({ ...entry, lanes: ends.length })))
    group = []
    ends = []
  }
  for (const entry of entries) {
    const { time } = entry
    if (!time) continue
    if (group.length > 0 && ends.every(end => end <= time.from)) close()
    const free = ends.findIndex(end => end <= time.from)
    const lane = free < 0 ? ends.length : free
    ends[lane] = Math.max(time.to, time.from + shownMinutes)
    group.push({ ...entry, time, lane })
  }
  close()
  return done
}

/** Where an entry goes: a day, and minutes after its midnight; null: for the day. */
export type Slot = { readonly day: string; readonly minutes: number | null }

export type Change = { readonly due_at: string; readonly duration?: null }

/**
 * The change that brings an activity to a slot. Its duration goes where it does not fit: hours in a slot for
 * the day, and whole days in one with a time (D160).
 */
export function changeTo(activity: AnyRecord, { day, minutes }: Slot, timeZone: string): Change {
  const due_at = momentOf(day, minutes ?? 0, timeZone)
  const duration = minutesOf(activity)
  const isDays = duration > 0 && duration % minutesOfDay === 0
  const losesLength = duration > 0 && (minutes === null ? !isDays : isDays)
  return losesLength ? { due_at, duration: null } : { due_at }
}

/** The slot of an activity, so many days and minutes later. */
export function slotAfter(activity: AnyRecord, days: number, minutes: number, timeZone: string): Slot {
  const begin = wallOf(String(activity.due_at), timeZone)
  if (isForDay(activity, timeZone)) return { day: addDays(begin.day, days), minutes: null }
  const wanted = begin.minutes + minutes
  const over = Math.floor(wanted / minutesOfDay)
  return { day: addDays(begin.day, days + over), minutes: wanted - over * minutesOfDay }
}

/** The slot of an activity whose part on a day is put into that one. */
export function slotWith({ activity, day, time }: Entry, to: Slot, timeZone: string): Slot {
  const days = daysBetween(day, to.day)
  if (to.minutes !== null && time) return slotAfter(activity, days, to.minutes - time.from, timeZone)
  return { day: slotAfter(activity, days, 0, timeZone).day, minutes: to.minutes }
}
