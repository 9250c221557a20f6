/** Days in words → the days that are meant: "30 days ago", "this month", "Q3 2026". Pure. */
import { singleBlanks } from './phrases.ts'

/** The first and the last day that are meant, each YYYY-MM-DD. */
export type Days = readonly [first: string, last: string]

const dayMs = 86_400_000

/** The days that words mean, as of `today`; null if they are no days. */
export function daysMeant(words: string, today: string): Days | null {
  const text = singleBlanks(words.toLowerCase())
  const same = dayNames[text]
  if (same !== undefined) return alone(shifted(today, same, 'day'))
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return isDay(text) ? alone(text) : null
  return relative(text, today) ?? calendar(text, today)
}

const dayNames: { readonly [word: string]: number } = { today: 0, now: 0, yesterday: -1, tomorrow: 1 }

function alone(day: string): Days {
  return [day, day]
}

/** "30 days ago", "in 2 weeks", "last 7 days", "next 3 months" */
function relative(text: string, today: string): Days | null {
  const match =
    /^(?:(in|next|last|past|the next|the last|the past) )?(an?|\d{1,4}) (day|week|month|quarter|year)s?( ago| from now)?$/.exec(
      text,
    )
  if (!match) return null
  const [, before = '', count, unit, after] = match
  const many = /^an?$/.test(count!) ? 1 : Number(count)
  const at = (by: number) => shifted(today, by, unit as Unit)
  if (after) return before ? null : alone(at(after === ' ago' ? -many : many))
  if (before === 'in') return alone(at(many))
  if (before.endsWith('next')) return [today, at(many)]
  return before ? [at(-many), today] : null
}

/** "this month", "next quarter", "2026", "2026-03", "Q3 2026", "March", "March 2026" */
function calendar(text: string, today: string): Days | null {
  const [, which, unit] =
    /^(this|current|last|past|previous|next) (week|month|quarter|year)$/.exec(text) ?? []
  if (unit) {
    const by = /^(this|current)$/.test(which!) ? 0 : which === 'next' ? 1 : -1
    return whole(shifted(beginOf(today, unit as Unit), by, unit as Unit), unit as Unit)
  }
  const [, year, month] = /^(\d{4})(?:-(0[1-9]|1[0-2]))?$/.exec(text) ?? []
  if (year) return whole(`${year}-${month ?? '01'}-01`, month ? 'month' : 'year')
  const [, quarter, its = today.slice(0, 4)] = /^q([1-4])(?: (\d{4}))?$/.exec(text) ?? []
  if (quarter) return whole(`${its}-${two(Number(quarter) * 3 - 2)}-01`, 'quarter')
  const [, name, named = today.slice(0, 4)] = /^([a-z]{3,9})(?: (\d{4}))?$/.exec(text) ?? []
  const at = name ? monthNames.findIndex(known => known === name || known.slice(0, 3) === name) : -1
  return at < 0 ? null : whole(`${named}-${two(at + 1)}-01`, 'month')
}

const monthNames =
  'january february march april may june july august september october november december'.split(' ')

type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year'

function two(number: number): string {
  return String(number).padStart(2, '0')
}

/** The whole week, month, quarter or year that begins on a day. */
function whole(first: string, unit: Unit): Days {
  return [first, shifted(shifted(first, 1, unit), -1, 'day')]
}

/** The first day of the week, month, quarter or year of a day. Weeks begin on Monday (D85). */
function beginOf(day: string, unit: Unit): string {
  const [year, month] = [day.slice(0, 4), Number(day.slice(5, 7))]
  if (unit === 'week') return shifted(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7), 'day')
  if (unit === 'month') return `${day.slice(0, 7)}-01`
  return `${year}-${unit === 'year' ? '01' : two(month - ((month - 1) % 3))}-01`
}

/** A day some units later; the last of the month if the month is shorter. */
function shifted(day: string, by: number, unit: Unit): string {
  if (unit === 'day' || unit === 'week')
    return text(Date.parse(`${day}T00:00:00Z`) + by * dayMs * (unit === 'week' ? 7 : 1))
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const months = year * 12 + month - 1 + by * { month: 1, quarter: 3, year: 12 }[unit]
  const last = new Date(Date.UTC(Math.floor(months / 12), (months % 12) + 1, 0)).getUTCDate()
  return text(Date.UTC(Math.floor(months / 12), months % 12, Math.min(date, last)))
}

/** A day as text, within the years 1 to 9999. */
function text(moment: number): string {
  const [least, most] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T00:00:00Z')]
  return new Date(Math.min(Math.max(moment || 0, least), most)).toISOString().slice(0, 10)
}

function isDay(day: string): boolean {
  const moment = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(moment) && text(moment) === day
}
