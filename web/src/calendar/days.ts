/** The days of a calendar: weeks, months, and the moments between which they lie. Pure. */
import { addDays } from '../activities/next-days.ts'
import { fromWall, toWall } from '../fields/zone.ts'

export type View = 'week' | 'month'

const hourMs = 3_600_000

/** A date of an address, or today if it is none. */
export function dayOf(text: string | undefined, today: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text ?? '') && !Number.isNaN(Date.parse(`${text}T12:00:00Z`))
  // The days around it have four digits, too.
  return isDay && text! > '1000' && text! < '9990' ? addDays(text!, 0) : today
}

/** The first day of the week in a locale: 1 is Monday, 7 is Sunday. */
export function firstWeekday(locale: string): number {
  type WithWeeks = { getWeekInfo?: () => { firstDay: number } }
  return (new Intl.Locale(locale) as WithWeeks).getWeekInfo?.().firstDay ?? 1
}

/** The seven days of the week with this day. */
export function weekOf(day: string, first: number): string[] {
  const weekday = new Date(`${day}T12:00:00Z`).getUTCDay()
  return daysFrom(addDays(day, -((weekday - first + 7) % 7)), 7)
}

/** The six weeks that show the month of this day. */
export function monthOf(day: string, first: number): string[] {
  return daysFrom(weekOf(`${day.slice(0, 7)}-01`, first)[0]!, 42)
}

const daysFrom = (day: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => addDays(day, index))

/** The day a week or a month later, or earlier; of a month that is shorter, its last day. */
export function shifted(view: View, day: string, by: 1 | -1): string {
  if (view === 'week') return addDays(day, 7 * by)
  const month = new Date(`${day.slice(0, 7)}-15T12:00:00Z`)
  month.setUTCMonth(month.getUTCMonth() + by)
  const wanted = `${month.toISOString().slice(0, 7)}-${day.slice(8)}`
  const last = addDays(shiftedFirst(wanted), -1)
  return wanted < last ? wanted : last
}

/** The first day of the month after that of a date. */
function shiftedFirst(day: string): string {
  return `${addDays(`${day.slice(0, 7)}-28`, 4).slice(0, 7)}-01`
}

/** The moment of a wall-clock time: minutes after midnight, of a day from 0 to 1440. */
export function momentOf(day: string, minutes: number, timeZone: string): string {
  if (minutes >= 1440) return momentOf(addDays(day, 1), minutes - 1440, timeZone)
  return fromWall(`${day}T${clockOf(minutes)}`, timeZone)!
}

/** 570 → 09:30 */
export function clockOf(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`
}

/** The wall-clock day of a moment, and the minutes after its midnight. */
export function wallOf(iso: string, timeZone: string): { day: string; minutes: number } {
  const wall = toWall(iso, timeZone)
  return { day: wall.slice(0, 10), minutes: Number(wall.slice(11, 13)) * 60 + Number(wall.slice(14, 16)) }
}

/** Words for a day on which the clocks change; null on others. */
export function clockChange(day: string, timeZone: string): string | null {
  const length = Date.parse(momentOf(addDays(day, 1), 0, timeZone)) - Date.parse(momentOf(day, 0, timeZone))
  if (length === 24 * hourMs) return null
  return length < 24 * hourMs ? 'Clocks go forward' : 'Clocks go back'
}
