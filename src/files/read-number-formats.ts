/** Number formats of a sheet: what its numbers mean, and how a person writes them (ECMA-376, 18.8.30). */
import { decimal, decimalPlaces, plain } from '../fields/decimal.ts'
import { jsonNumber, type RawNumber } from '../json.ts'

/**
 * `utc`: a moment whose format ends with Z or UTC, as in our exports; another is in the zone of the account.
 * `unit`: shown by the format beside the number. `digits`: no quantity but a code or a telephone number,
 * which is shown with leading zeros or punctuation.
 */
export type NumberFormat =
  | 'date'
  | 'moment'
  | 'utc'
  | 'time'
  | 'number'
  | { readonly unit: string }
  | { readonly digits: readonly Token[] }

/** A token of a format: a literal, or a placeholder. */
type Token = { readonly text: string; readonly isShown: boolean }

const dayMs = 86_400_000
/** The days from 1970 back to day 0 of the two calendars of workbooks. */
const [since1900, since1904] = [25_569, 24_107]
/** Excel takes 1900 for a leap year: the days before March 1900 are one later. */
const leapDay = 60
/** The first day after the year 9999. */
const daysMax = 2_958_466

/** The built-in formats, which have a number and no code in the file. */
export function builtInFormat(id: number): NumberFormat {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return 'date'
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return 'time'
  if (id === 9 || id === 10) return { unit: '%' }
  return id === 22 ? 'moment' : 'number'
}

/** `yyyy\-mm\-dd\ hh:mm` → moment. Quoted, escaped or bracketed text means no time, except [h]. */
export function formatOf(code: string): NumberFormat {
  const tokens = tokensOf(code.slice(0, 1000))
  const signs = textOf(tokens.filter(({ isShown }) => !isShown))
    .replace(/general/gi, '')
    .replace(/am\/pm|a\/p/gi, 'h')
  const hasTime = /[hs]/i.test(signs)
  const hasDate = /[yd]/i.test(signs) || (!hasTime && /m/i.test(signs))
  const shown = textOf(tokens.filter(({ isShown }) => isShown))
  if (hasDate && hasTime) return /(?:Z|UTC)\s*$/.test(shown) ? 'utc' : 'moment'
  if (hasDate) return 'date'
  if (hasTime) return 'time'
  if (signs.includes('%')) return { unit: '%' }
  if (areDigits(tokens, signs)) return { digits: tokens }
  return /[\p{L}\p{Sc}]/u.test(shown) ? { unit: shown.replace(/[()+-]/g, '').trim() } : 'number'
}

/** `"…"`, `\x`, `[$…-407]`, `[…]`, `_x` and `*x`, the end of the first section, or any character. */
const formatSign =
  /"([^"]*)"?|\\(.)|\[\$([^\]-]{0,80})(?:-[^\]]{0,80})?\]|\[(?![hms]+\])[^\]]{0,80}\]|[_*].|(;)|./gisu

/** The tokens of the first section, which applies to positive numbers. */
function tokensOf(code: string): Token[] {
  const tokens: Token[] = []
  for (const [whole, quoted, escaped, currency, end] of code.matchAll(formatSign)) {
    if (end) break
    const shown = quoted ?? escaped ?? currency ?? (/^[\p{Sc}\s()+-]$/u.test(whole) ? whole : undefined)
    if (shown !== undefined) tokens.push({ text: shown, isShown: true })
    else if (whole.length === 1 || /^\[[hms]+\]$/i.test(whole)) tokens.push({ text: whole, isShown: false })
  }
  return tokens
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('')
}

/** True if a format of digits alone begins with several zeros, or has punctuation between its digits. */
function areDigits(tokens: readonly Token[], signs: string): boolean {
  if (!/^[0#?]{2,}$/.test(signs)) return false
  if (/^00/.test(signs)) return true
  const [first, last] = [tokens.findIndex(isPlace), tokens.findLastIndex(isPlace)]
  // Blanks and apostrophes group a number.
  return tokens.slice(first, last).some(({ text, isShown }) => isShown && /[^\s'’]/.test(text))
}

function isPlace({ isShown }: Token): boolean {
  return !isShown
}

/**
 * A number of a sheet: 2026-03-01, 2026-03-01T10:00:00, with Z if in UTC, 10:00:00, or the number. A
 * whole number is a text, as it may be a name. One with a fraction is a number: its decimal point is clear.
 */
export function numberCell(
  written: string,
  format: NumberFormat,
  is1904: boolean,
): string | number | RawNumber | { number: number | RawNumber; unit: string } {
  const value = Number(written)
  if (!Number.isFinite(value)) return written
  if (typeof format === 'object')
    return 'unit' in format ? withUnit(written, format.unit) : digits(written, format.digits)
  // A date format has no meaning for numbers that are no dates.
  if (format === 'number' || value < 0 || value >= daysMax) return exact(written)
  const days = is1904 || value >= leapDay ? value : value + 1
  const moment = new Date(Math.round((days - (is1904 ? since1904 : since1900)) * dayMs)).toISOString()
  if (format === 'time') return value < 1 ? moment.slice(11, 19) : exact(written)
  const isMidnight = moment.slice(11) === '00:00:00.000Z'
  if (format === 'date' && isMidnight) return moment.slice(0, 10)
  const shown = moment.slice(20, 23) === '000' ? moment.slice(0, 19) : moment.slice(0, 23)
  return format === 'utc' ? `${shown}Z` : shown
}

function withUnit(written: string, unit: string) {
  const text = plainNumber(written)
  if (text === null) return written
  return { number: jsonNumber(unit === '%' ? plain(decimal(text)!.times(100)) : text), unit }
}

/** The digits in the placeholders of a format, from the last one on; the first takes all that are left. */
function digits(written: string, tokens: readonly Token[]): string | number | RawNumber {
  const number = plainNumber(written)
  if (number === null || !/^\d+$/.test(number)) return exact(written)
  const first = tokens.findIndex(isPlace)
  let rest = number
  const shown = tokens.toReversed().map((token, index) => {
    if (token.isShown) return token.text
    const digit = tokens.length - 1 - index === first ? rest : rest.slice(-1)
    rest = rest.slice(0, rest.length - digit.length)
    return digit || (token.text === '0' ? '0' : '')
  })
  return shown.toReversed().join('')
}

function exact(written: string): string | number | RawNumber {
  const text = plainNumber(written)
  return text?.includes('.') ? jsonNumber(text) : (text ?? written)
}

/** Significant digits of a number in a sheet. Further digits of a double are noise. */
const digitsMax = 15

/**
 * A number without an exponent, with all its digits; null if it can't be written so. A fraction has no more
 * digits than a sheet shows: 0.30000000000000004 is 0.3.
 */
function plainNumber(written: string): string | null {
  if (/^(?:0|[1-9]\d{0,14})$/.test(written)) return written
  const value = decimal(written)
  if (!value) return null
  const hasNoise = decimalPlaces(value) > 0 && value.c.length > digitsMax
  return plain(hasNoise ? value.prec(digitsMax) : value)
}
