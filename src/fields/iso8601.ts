/**
 * ISO 8601 dates, times and date-times in the interface's forms (D16). Only real dates are valid; the parser
 * of `Date` never gets a text that was not checked.
 */

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const timePattern = /^[Tt]?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?$/
const dateTimePattern =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|z|[+-]\d{2}(?::?\d{2})?)?$/

const day = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])'
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?'
const time = `[Tt]?${clock}`
const offset = '(?:Z|z|[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?)'
const whole = (form: string) => `^${form}$`

/**
 * Patterns of valid input (D16) for JSON Schemas. They can't express the length of a month, nor the range of
 * years.
 */
export const isoPatterns = {
  date: whole(`${day}(?:[Tt]${clock}${offset}?)?`),
  time: whole(time),
  times: whole(`${time}/${time}`),
  /** a date, or a moment with its offset */
  dateOrMoment: whole(`${day}(?:[Tt]${clock}${offset})?`),
  moment: whole(`${day}[Tt]${clock}${offset}`),
}

/** "2026-02-28" → itself; null if it is not a real date. Years 0001 to 9999. */
export function isoDate(text: string): string | null {
  const match = datePattern.exec(text)
  if (!match) return null
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= lastDay ? text : null
}

/** The calendar date as written, of a date or a date-time (never through UTC). */
export function calendarDate(text: string): string | null {
  if (text.length === 10) return isoDate(text)
  const parts = dateTimeParts(text)
  return parts?.date ?? null
}

/**
 * The text of a request's date or time; null if it is none. No form of ISO 8601 contains a blank, but filters
 * and files may have one in place of the T.
 */
export function writtenTime(input: unknown): string | null {
  return typeof input === 'string' && !/\s/.test(input) ? input : null
}

/**
 * A time as text to compare stored ones with, which have no seconds: "10:00:00" → "10:00", "10:00:30" →
 * itself, which equals none of them; null as of `isoTime`.
 */
export function comparedTime(text: string): string | null {
  const minute = isoTime(text)
  const seconds = text.replace(/^[Tt]/, '').slice(5).replace(',', '.')
  return minute && /[1-9]/.test(seconds) ? minute + seconds : minute
}

/** "10:00", "10:00:30" → "10:00"; null if the text has an offset or is not a time. */
export function isoTime(text: string): string | null {
  const match = timePattern.exec(text)
  return match ? `${match[1]}:${match[2]}` : null
}

/**
 * A date-time → UTC with milliseconds, "2026-02-28T09:30:00.000Z". Without an offset it is UTC (D42), or null
 * with `needsOffset`. Null for anything that is not a real date-time.
 */
export function isoInstant(text: string, needsOffset = false): string | null {
  const date = isoDate(text)
  if (date) return needsOffset ? null : `${date}T00:00:00.000Z`
  const parts = dateTimeParts(text)
  return !parts || (needsOffset && !parts.offset) ? null : instantOfEpoch(parts.milliseconds)
}

/** Milliseconds since 1970 → UTC text; null outside the years 1 to 9999. */
export function instantOfEpoch(milliseconds: number): string | null {
  const instant = new Date(milliseconds)
  const year = instant.getUTCFullYear()
  return year >= 1 && year <= 9999 ? instant.toISOString() : null
}

/** The calendar date of a moment in a time zone of the IANA list; null outside the years 1 to 9999. */
export function dateIn(timeZone: string, instant: Date): string | null {
  const parts = Object.fromEntries(
    calendarOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  )
  return parts.era === 'AD' ? isoDate(`${parts.year!.padStart(4, '0')}-${parts.month}-${parts.day}`) : null
}

/** Cache: creating a calendar is slow, and a filter may use it for thousands of moments. */
const calendars = new Map<string, Intl.DateTimeFormat>()

function calendarOf(timeZone: string): Intl.DateTimeFormat {
  const known = calendars.get(timeZone)
  if (known) return known
  const digits = { era: 'short', year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const calendar = new Intl.DateTimeFormat('en-US', {
    ...digits,
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
  })
  calendars.set(timeZone, calendar)
  return calendar
}

function dateTimeParts(text: string) {
  const [, date, clock, offset] = dateTimePattern.exec(text) ?? []
  if (!date || !isoDate(date) || !isoTime(clock!)) return null
  const [ahead, minutesAhead] = offsetOf(offset)
  if (ahead > 14 || minutesAhead > 59) return null
  const [whole, fraction = ''] = clock!.split(/[.,]/)
  const minutes = (offset?.startsWith('-') ? -1 : 1) * (ahead * 60 + minutesAhead)
  const local = Date.parse(`${date}T${whole}Z`) + Number(fraction.padEnd(3, '0').slice(0, 3))
  return { date, offset, milliseconds: local - minutes * 60_000 }
}

/** "+02:00", "+0200" and "+02" → 2 and 0 */
function offsetOf(offset: string | undefined): [hours: number, minutes: number] {
  const digits = offset?.replace(/\D/g, '') ?? ''
  return [Number(digits.slice(0, 2)), Number(digits.slice(2))]
}

/**
 * The hint for a date or a moment: "31.12.2026" as "2026-12-31". If the order of day and month is ambiguous,
 * both are shown. `moment` formats a number of milliseconds. Empty for any other input.
 */
export function writtenDateHint(input: unknown, moment: (instant: Date) => string | null): string {
  const [, month, day] = (typeof input === 'string' && /^(\d{4}-(?:0[1-9]|1[0-2]))-(\d\d)$/.exec(input)) || []
  if (month && Number(day) > 28) {
    const days = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()
    return `${month} has ${days} days.`
  }
  const found = datesOf(input, moment)
  return found.length ? `Write ${found.map(one => `"${one}"`).join(' or ')}.` : ''
}

function datesOf(input: unknown, moment: (instant: Date) => string | null): string[] {
  if (typeof input === 'number' && Number.isInteger(input)) {
    const milliseconds = /^\d{10}$/.test(String(input)) ? input * 1000 : input
    return milliseconds > 1e11 && instantOfEpoch(milliseconds) ? [moment(new Date(milliseconds)) ?? ''] : []
  }
  if (typeof input !== 'string' || input.length > 40) return []
  const at = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?$/.exec(input.trim())
  if (at) {
    const written = `${at[1]}T${at[2]}${at[3] ?? 'Z'}`
    return isoInstant(written) ? [written] : []
  }
  const [, one, sign, two, three] = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$/.exec(input.trim()) ?? []
  if (!one || !two || !three) return []
  const dated = (year: string, month: string, day: string) =>
    year.length === 4 ? isoDate(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`) : null
  // Only dates with points have a known order.
  const all =
    one.length === 4
      ? [dated(one, two, three)]
      : [dated(three, two, one), ...(sign === '.' ? [] : [dated(three, one, two)])]
  return [...new Set(all.filter(date => date !== null))]
}
