/**
 * Reads texts as people write them in cells: numbers, dates, moments, several values. Each function returns
 * the interface's form, or null if the text is none. Knows no field.
 */
import { decimal as decimalOf, plain } from '../fields/decimal.ts'
import { calendarDate, isoDate, isoInstant } from '../fields/iso8601.ts'
import {
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  jsonIn,
  jsonNumber,
  type RawNumber,
} from '../json.ts'
import { numberCell } from './read-number-formats.ts'

/** `serial`: whole numbers are the days of a spreadsheet */
export type DateOrder = (typeof dateOrders)[number]
export const dateOrders = ['dmy', 'mdy', 'ymd', 'serial'] as const
export type DecimalMark = '.' | ','

const plainNumber = /^-?\d+(?:\.\d+)?$/
/** A currency sign or a unit, digits with marks between them, and another sign or unit. */
const writtenNumber =
  /^([^\d.,+\-−()]{0,8})(\()?([+\-−]?)([^\d.,+\-−()]{0,8})([\d.,'’\s]*\d[.,]?)(\))?(-?)([^\d.,]{0,8})$/u

export type WrittenNumber = { readonly number: number | RawNumber; readonly unit: string }

/**
 * "€1,234.50" with "." → 1234.5 and the unit "€". Thousands may be grouped by the other mark, blanks or
 * apostrophes; brackets mean a negative number. Without a mark, an ambiguous number is 'unclear'.
 */
export function numberOf(text: string, mark: DecimalMark): WrittenNumber | null
export function numberOf(text: string, mark: DecimalMark | undefined): WrittenNumber | 'unclear' | null
export function numberOf(text: string, mark: DecimalMark | undefined): WrittenNumber | 'unclear' | null {
  if (plainNumber.test(text) && (mark === '.' || !text.includes('.')))
    return { number: exact(text), unit: '' }
  const match = text.length <= 60 ? writtenNumber.exec(withCents(text.trim())) : null
  if (!match) return null
  const [, before, open, sign, between, body, close, after, unit] = match
  if ((open === undefined) !== (close === undefined)) return null
  const digits = mark ? ungrouped(body!, mark) : unmarked(body!)
  if (digits === null || digits === 'unclear') return digits
  const isNegative = open !== undefined || /[-−]/.test(sign! + after!)
  return { number: exact(`${isNegative ? '-' : ''}${digits}`), unit: (before! + between! + unit!).trim() }
}

/** A text of its own: a slice keeps the whole text that it was cut from in memory. */
export function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

/** True if a cell is a number with a unit from its format, as in sheets. */
export function isWritten(cell: Json): cell is WrittenNumber & JsonObject {
  return (
    isObject(cell) &&
    isNumber(cell.number ?? null) &&
    typeof cell.unit === 'string' &&
    Object.keys(cell).length === 2
  )
}

/** The number with its unit behind it. */
export function shownNumber({ number, unit }: WrittenNumber): string {
  return `${plainText(number)} ${unit}`
}

/** A number without an exponent, if it can be written so. */
export function plainText(number: number | RawNumber): string {
  const text = JSON.stringify(number)
  const value = text.includes('e') ? decimalOf(number) : null
  return value ? plain(value) : text
}

/** "5.000,-" has no cents, and is not negative: 5.000,00 */
function withCents(text: string): string {
  return text.replace(/[.,](?:--?|[–—])(?=[^\d]*$)/u, mark => `${mark[0]}00`)
}

/** The only way to read digits whose marks are undetermined. */
function unmarked(body: string): string | null {
  const [point, comma] = [ungrouped(body, '.'), ungrouped(body, ',')]
  if (point === null || comma === null || point === comma) return point ?? comma
  return 'unclear'
}

/** Digits with at most one point, from digits grouped by threes with the same separator. */
function ungrouped(body: string, mark: DecimalMark): string | null {
  const [whole, fraction = '', ...more] = body.trim().split(mark)
  if (more.length || !/^\d*$/.test(fraction)) return null
  const groups = (mark === '.' ? pointed : commaed).exec(whole!)
  const digits = groups ? whole!.replace(/\D/g, '') : whole!
  if (!/^\d*$/.test(digits)) return null
  return fraction ? `${digits || '0'}.${fraction}` : digits || null
}

/** No group of digits begins with zeros: 0,125 is less than one. */
const pointed = /^[1-9]\d{0,2}([,\s'’])\d{3}(?:\1\d{3})*$/
const commaed = /^[1-9]\d{0,2}([.\s'’])\d{3}(?:\1\d{3})*$/

function exact(text: string): number | RawNumber {
  return jsonNumber(text.replace(/^(-?)0+(?=\d)/, (_, sign) => sign))
}

/** The names and abbreviations of the months: English, German and French. */
const months = [
  ...['january jan januar jänner janvier janv', 'february feb februar février fevrier févr fevr fév'],
  ...['march mar märz marz mär mrz mars', 'april apr avril avr', 'may mai', 'june jun juni juin'],
  ...['july jul juli juillet juil', 'august aug août aout', 'september sep sept septembre'],
  ...['october oct oktober okt octobre', 'november nov novembre'],
  ...['december dec dezember dez décembre decembre déc'],
].map(names => names.split(' '))
const numbers = /^(\d{1,4})([-/.\s])\s?(\d{1,2})\2\s?(\d{1,4})$/
const dayMonth = /^(\d{1,2})(?:st|nd|rd|th|er)?[\s.-]+(\p{L}{3,9})\.?[\s,-]+(\d{4}|\d{2})$/iu
const monthDay = /^(\p{L}{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/iu

/** A date: '31/12/2026' → '2026-12-31'. 'unclear' if the order of day and month is needed and unknown. */
export function dateOf(text: string, order: DateOrder | undefined): string | 'unclear' | null {
  if (text.length === 10 && text.charCodeAt(4) === 45) return isoDate(text)
  if (/^\d{8}$/.test(text)) return isoDate(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`)
  const withMonthName = dayMonth.exec(text)
  if (withMonthName) return dateFrom(withMonthName[3]!, monthOf(withMonthName[2]!), withMonthName[1]!)
  const american = monthDay.exec(text)
  if (american) return dateFrom(american[3]!, monthOf(american[1]!), american[2]!)
  const match = numbers.exec(text)
  return match ? ofNumbers(match[1]!, match[2]!, match[3]!, match[4]!, order) : null
}

function ofNumbers(
  first: string,
  sign: string,
  second: string,
  third: string,
  order: DateOrder | undefined,
): string | 'unclear' | null {
  if (first.length === 4) return dateFrom(first, second, third)
  if (first.length > 2) return null
  const [one, two] = [Number(first), Number(second)]
  if (order === 'ymd' && third.length <= 2) return dateFrom(first, second, third)
  // Dates with points never begin with the month.
  if (sign === '.') return dateFrom(third, second, first)
  // A date that is only valid in another order is refused: it puts the file's other dates in doubt.
  if (order === 'mdy') return dateFrom(third, first, second)
  if (order === 'dmy') return dateFrom(third, second, first)
  if (one > 12 || one === two) return dateFrom(third, second, first)
  return two > 12 ? dateFrom(third, first, second) : 'unclear'
}

/** The number of a month's name or abbreviation; 0 if it is none. */
function monthOf(word: string): string {
  return String(months.findIndex(names => names.includes(word.toLowerCase())) + 1)
}

/** A year of two digits means 1970 to 2069; a year such as 0026 is rejected as a mistake. */
function dateFrom(year: string, month: string, day: string): string | null {
  if (year.length === 4 && year < '1000') return null
  const full = year.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year
  return isoDate(`${full}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
}

/** Maximum length of a date or time; a longer text is slow to match. */
const momentMax = 60

const clock = /^(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?\s*([ap])?\.?(?:m\.?)?$/i

/** "2:05 pm" → "14:05:00"; milliseconds stay */
export function timeOf(text: string): string | null {
  const match = text.length > momentMax ? null : clock.exec(text.trim())
  if (!match) return null
  const [, written, minutes, seconds = '00', fraction, half] = match
  let hours = Number(written)
  if (half && (hours < 1 || hours > 12)) return null
  if (half) hours = (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  if (hours > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null
  const milliseconds = fraction ? `.${fraction.slice(0, 3).padEnd(3, '0')}` : ''
  return `${String(hours).padStart(2, '0')}:${minutes}:${seconds}${milliseconds}`
}

/** The date of a date or a date-time, as written: never moved through a time zone. */
export function dayOf(written: string, order: DateOrder | undefined): string | 'unclear' | null {
  if (written.length > momentMax) return null
  const text = withoutSerial(written, order)
  const iso = calendarDate(text) ?? dateOf(text, order)
  if (iso !== null) return iso
  const parts = halves(text)
  return parts && isClock(parts[1]) ? dateOf(parts[0], order) : null
}

/** True if a text is a time of day, with or without a time zone. */
function isClock(text: string): boolean {
  const bare = text.replace(/\s*(?:[a-z]{1,5}|[a-z]*[+-]\d{1,2}(?::?\d{2})?|\([^()]*\))$/i, '')
  return timeOf(text) !== null || timeOf(bare) !== null
}

/** A spreadsheet's serial number as a date-time, if the file has such: 46082.5 → 2026-03-01T12:00:00 */
function withoutSerial(text: string, order: DateOrder | undefined): string {
  if (order !== 'serial' || !/^\d{1,7}(?:[.,]\d+)?$/.test(text)) return text
  const moment = numberCell(text.replace(',', '.'), 'moment', false)
  return typeof moment === 'string' ? moment : text
}

/** A date and the time behind it. */
function halves(text: string): [date: string, time: string] | null {
  const match = /^(.+?)(?:,?\s+(?:at\s+)?|T)(\d{1,2}[:.]\d{2}.*)$/i.exec(text)
  return match ? [match[1]!, match[2]!] : null
}

/**
 * A moment: in UTC if the text has an offset; else `local` makes it from the date and the time (default:
 * midnight).
 */
export function momentOf(
  written: string,
  order: DateOrder | undefined,
  local: (date: string, time: string) => string | null,
): string | 'unclear' | null {
  if (written.length > momentMax) return null
  const text = withoutSerial(written, order)
  // Ruby and others put a blank before the offset.
  const iso = isoInstant(text.replace(/(?<=\d)\s+(?=[+-]\d{2}:?\d{2}$)/, ''), true)
  if (iso) return iso
  if (/^[1-9]\d{12}$/.test(text)) return new Date(Number(text)).toISOString()
  const parts = halves(text)
  const zoned = parts ? /^(.*\d)\s*(?:Z|UTC|GMT)$/i.exec(parts[1]) : null
  const date = dateOf(parts?.[0] ?? text, order)
  if (date === null || date === 'unclear') return date
  const time = parts ? timeOf(zoned?.[1] ?? parts[1]) : '00:00:00'
  if (time === null) return null
  return zoned ? isoInstant(`${date}T${time}Z`) : local(date, time)
}

type Item = { readonly item: string; readonly isMarked: boolean }

/** Several values of a cell, separated by semicolons, line breaks, or Google's three colons. */
export function itemsOf(text: string, separators = /[;\r\n]/): string[] {
  return markedItemsOf(text, separators).map(({ item }) => item)
}

/**
 * Like `itemsOf`. `isMarked`: the item is in quotation marks: a JSON string, as our exports write items with
 * a semicolon or a comma (D81).
 */
export function markedItemsOf(text: string, separators = /[;\r\n]/): Item[] {
  if (!text.includes('"')) {
    const items = text.replaceAll(':::', ';').split(separators)
    return items.map(item => ({ item: item.trim(), isMarked: false })).filter(({ item }) => item !== '')
  }
  const items: Item[] = []
  let rest = text.trim()
  while (rest !== '') {
    const quoted = quotedItem.exec(rest)?.[0]
    const value = quoted === undefined ? undefined : json(quoted)
    const end = quoted === undefined ? rest.search(separators) : quoted.length
    const found = end < 0 ? rest : rest.slice(0, end)
    const isMarked = typeof value === 'string'
    const item = isMarked ? value : found.trim()
    if (item !== '') items.push({ item, isMarked })
    rest = end < 0 ? '' : rest.slice(end).trimStart()
    if (rest !== '' && separators.test(rest[0]!)) rest = rest.slice(1).trimStart()
  }
  return items
}

const quotedItem = /^"[^"\\]*(?:\\.[^"\\]*)*"(?=\s*(?:[;\r\n]|$))/
/** Limits of JSON in a cell. */
const jsonLimits = { levels: 20, items: 100_000 }

/** A list as JSON in a text; undefined for another text. The file of refused rows contains such (D80). */
export function jsonList(text: string): Json[] | undefined {
  const value = /^\s*\[/.test(text) ? json(text) : undefined
  return Array.isArray(value) ? value : undefined
}

/** JSON text → its value; undefined for another text, and for one that is nested too deeply or too large. */
export function json(text: string): Json | undefined {
  return jsonIn(text, jsonLimits)
}
