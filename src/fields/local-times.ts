/** Moments of dates and times in a time zone. Knows no text but ISO 8601. */
import { instantOfEpoch } from './iso8601.ts'

const dayMs = 86_400_000
const offsetsMax = 20_000

/**
 * Returns a function: date and time in an IANA time zone → moment. An ambiguous time (clocks go back) is the
 * first of two; a skipped one (clocks go forward) is as much later as is skipped (RFC 5545, 3.3.5). Null
 * outside the years 1 to 9999.
 */
export function momentIn(timeZone: string): MomentIn {
  const known = zones.get(timeZone) ?? momentsIn(timeZone)
  zones.set(timeZone, known)
  return known
}

type MomentIn = (date: string, time: string) => string | null
/** cache by time zone: creating a format takes a tenth of a millisecond */
const zones = new Map<string, MomentIn>()

function momentsIn(timeZone: string): MomentIn {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  })
  /** Offset from UTC at a moment, in milliseconds. */
  const offsetAt = (moment: number): number => {
    const whole = Math.floor(moment / 1000) * 1000
    const parts = Object.fromEntries(format.formatToParts(whole).map(({ type, value }) => [type, value]))
    const { year, month, day, hour, minute, second } = parts
    return Date.parse(`${year!.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}Z`) - whole
  }
  // Cache: computing an offset takes microseconds, and a file has many moments of the same days.
  const ofDays = new Map<number, number | null>()
  const ofDay = (midnight: number): number | null => {
    const known = ofDays.get(midnight)
    if (known !== undefined) return known
    const [before, after] = [offsetAt(midnight - dayMs), offsetAt(midnight + 2 * dayMs)]
    const offset = before === after ? before : null
    if (ofDays.size >= offsetsMax) ofDays.clear()
    ofDays.set(midnight, offset)
    return offset
  }
  /** That of a local time near a change of clocks. */
  const ofTime = (local: number): number => {
    const [before, after] = [offsetAt(local - dayMs), offsetAt(local + dayMs)]
    return [before, after].find(offset => offsetAt(local - offset) === offset) ?? before
  }
  return (date, time) => {
    const midnight = Date.parse(`${date}T00:00:00Z`)
    const local = Date.parse(`${date}T${time}Z`)
    const offset = ofDay(midnight) ?? ofTime(local)
    return instantOfEpoch(local - offset)
  }
}
