/** What numbers of a sheet mean by their formats, and how a person writes them (ECMA-376, 18.8.30). */
import { decimal, decimalPlaces, plain } from '../fields/decimal.ts'
import { jsonNumber, type RawNumber } from '../json.ts'

export type NumberFormat = 'date' | 'moment' | 'time' | 'number'

const dayMs = 86_400_000
/** The days from 1970 back to day 0 of the two calendars that workbooks have. */
const [since1900, since1904] = [25_569, 24_107]
/** Excel takes 1900 for a leap year: the days before March 1900 are one later. */
const leapDay = 60
/** The last second of the year 9999. */
const daysMax = 2_958_466

/** The formats that have numbers and no code in the file. */
export function builtInFormat(id: number): NumberFormat {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'date'
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return 'time'
  return id === 22 ? 'moment' : 'number'
}

/** `yyyy\-mm\-dd\ hh:mm` → moment. What is quoted, escaped or in brackets says nothing, but for [h]. */
export function formatOf(code: string): NumberFormat {
  const [positive] = code
    .slice(0, 1000)
    .replace(/"[^"]*"|[\\_*].|\[(?![hms]+\])[^\]]*\]/gi, '')
    .split(';')
  const signs = positive!.replace(/general/gi, '').replace(/am\/pm|a\/p/gi, 'h')
  const hasTime = /[hs]/i.test(signs)
  const hasDate = /[yd]/i.test(signs) || (!hasTime && /m/i.test(signs))
  if (hasDate) return hasTime ? 'moment' : 'date'
  return hasTime ? 'time' : 'number'
}

/**
 * A number of a sheet: 2026-03-01, 2026-03-01T10:00:00, 10:00:00, or what it is. A whole number is a text, as
 * it may name something. One with a fraction is a number: its point is not to be taken for another mark.
 */
export function numberCell(
  written: string,
  format: NumberFormat,
  is1904: boolean,
): string | number | RawNumber {
  const value = Number(written)
  if (!Number.isFinite(value)) return written
  // A format of dates says nothing of what is no date.
  if (format === 'number' || value < 0 || value >= daysMax) return exact(written)
  const days = is1904 || value >= leapDay ? value : value + 1
  const moment = new Date(Math.round((days - (is1904 ? since1904 : since1900)) * dayMs)).toISOString()
  if (format === 'time') return value < 1 ? moment.slice(11, 19) : exact(written)
  const isMidnight = moment.slice(11) === '00:00:00.000Z'
  if (format === 'date' && isMidnight) return moment.slice(0, 10)
  return moment.slice(20, 23) === '000' ? moment.slice(0, 19) : moment.slice(0, 23)
}

function exact(written: string): string | number | RawNumber {
  const text = plainNumber(written)
  return text?.includes('.') ? jsonNumber(text) : (text ?? written)
}

/** A number has so many digits in a sheet. What a double has beyond them is noise. */
const digitsMax = 15

/**
 * A number without an exponent, with all its digits; null for one that can't be written so. With a fraction
 * it has no more than a sheet shows, so that 0.30000000000000004 is 0.3.
 */
function plainNumber(written: string): string | null {
  if (/^(?:0|[1-9]\d{0,14})$/.test(written)) return written
  const value = decimal(written)
  if (!value) return null
  const hasNoise = decimalPlaces(value) > 0 && value.c.length > digitsMax
  return plain(hasNoise ? value.prec(digitsMax) : value)
}
