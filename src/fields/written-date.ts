/** Converts dates as people and other systems write them into valid input. For hints only. Pure. */
import { instantOfEpoch, isoDate, isoInstant } from './iso8601.ts'

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
