/**
 * What people write in cells: numbers, dates, moments, several values. Each function gives the form in which
 * the interface takes it, or null for a text that is none. Knows no field.
 */
import { calendarDate, isoDate, isoInstant } from '../fields/iso8601.ts'
import { type Json, jsonNumber, parseExactly, type RawNumber } from '../json.ts'

export type DateOrder = 'dmy' | 'mdy' | 'ymd'
export type DecimalMark = '.' | ','

const plainNumber = /^-?\d+(?:\.\d+)?$/
/** A sign of a currency or a unit, digits with marks between them, and the same again. */
const writtenNumber =
  /^([^\d.,+\-−()]{0,8})(\()?([+\-−]?)([^\d.,+\-−()]{0,8})([\d.,'’\s]*\d[.,]?)(\))?(-?)([^\d.,]{0,8})$/u

export type WrittenNumber = { readonly number: number | RawNumber; readonly unit: string }

/**
 * "€1,234.50" with "." → 1234.5 and the unit "€". Thousands may be grouped by the other mark, blanks or
 * apostrophes; brackets mean less than zero. Without a mark, 'unclear' is what may be two numbers.
 */
export function numberOf(text: string, mark: DecimalMark): WrittenNumber | null
export function numberOf(text: string, mark: DecimalMark | undefined): WrittenNumber | 'unclear' | null
export function numberOf(text: string, mark: DecimalMark | undefined): WrittenNumber | 'unclear' | null {
  if (plainNumber.test(text) && (mark === '.' || !text.includes('.')))
    return { number: exact(text), unit: '' }
  const match = text.length <= 60 ? writtenNumber.exec(text.trim()) : null
  if (!match) return null
  const [, before, open, sign, between, body, close, after, unit] = match
  if ((open === undefined) !== (close === undefined)) return null
  const digits = mark ? ungrouped(body!, mark) : unmarked(body!)
  if (digits === null || digits === 'unclear') return digits
  const isNegative = open !== undefined || /[-−]/.test(sign! + after!)
  return { number: exact(`${isNegative ? '-' : ''}${digits}`), unit: (before! + between! + unit!).trim() }
}

/** The only way to read digits with marks of which nobody said what they mean. */
function unmarked(body: string): string | null {
  const [point, comma] = [ungrouped(body, '.'), ungrouped(body, ',')]
  if (point === null || comma === null || point === comma) return point ?? comma
  return 'unclear'
}

/** Digits with a point at most, of digits in groups of three, whose signs are the same. */
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

const months = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
]
const numbers = /^(\d{1,4})([-/.\s])\s?(\d{1,2})\2\s?(\d{1,4})$/
const dayMonth = /^(\d{1,2})(?:st|nd|rd|th)?[\s.-]+([a-z]{3,9})\.?[\s,-]+(\d{4}|\d{2})$/i
const monthDay = /^([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/i

/**
 * A date: '31/12/2026' → '2026-12-31'. 'unclear' where day and month can't be told apart without an order.
 */
export function dateOf(text: string, order: DateOrder | undefined): string | 'unclear' | null {
  if (text.length === 10 && text.charCodeAt(4) === 45) return isoDate(text)
  if (/^\d{8}$/.test(text)) return isoDate(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`)
  const named = dayMonth.exec(text)
  if (named) return made(named[3]!, monthOf(named[2]!), named[1]!)
  const american = monthDay.exec(text)
  if (american) return made(american[3]!, monthOf(american[1]!), american[2]!)
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
  if (first.length === 4) return made(first, second, third)
  if (first.length > 2) return null
  const [one, two] = [Number(first), Number(second)]
  if (order === 'ymd' && third.length <= 2) return made(first, second, third)
  // Nobody writes the month first with points.
  if (sign === '.' || (one > 12 && two <= 12)) return made(third, second, first)
  if (two > 12) return made(third, first, second)
  if (order === 'mdy') return made(third, first, second)
  if (order === 'dmy' || one === two) return made(third, second, first)
  return 'unclear'
}

/** The number of a month's name or abbreviation; that of no month is 0. */
function monthOf(word: string): string {
  const name = word.toLowerCase().replace(/^sept$/, 'sep')
  return String(months.findIndex(one => one === name || one.slice(0, 3) === name) + 1)
}

/** Years of two digits are those from 1970 on. */
function made(year: string, month: string, day: string): string | null {
  const full = year.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year
  return isoDate(`${full}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
}

/** No date or time is longer, and looking for one in a long text is slow. */
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
export function dayOf(text: string, order: DateOrder | undefined): string | 'unclear' | null {
  if (text.length > momentMax) return null
  const iso = calendarDate(text) ?? dateOf(text, order)
  return iso ?? dateOf(halves(text)?.[0] ?? '', order)
}

/** A date and the time behind it. */
function halves(text: string): [date: string, time: string] | null {
  const match = /^(.+?)(?:,?\s+(?:at\s+)?|T)(\d{1,2}[:.]\d{2}.*)$/i.exec(text)
  return match ? [match[1]!, match[2]!] : null
}

/**
 * A moment: in UTC where the text has an offset; else `local` makes it of the date and the time, which is
 * midnight where there is none.
 */
export function momentOf(
  text: string,
  order: DateOrder | undefined,
  local: (date: string, time: string) => string | null,
): string | 'unclear' | null {
  if (text.length > momentMax) return null
  const iso = isoInstant(text, true)
  if (iso) return iso
  if (/^1\d{12}$/.test(text)) return new Date(Number(text)).toISOString()
  const parts = halves(text)
  const zoned = parts ? /^(.*\d)\s*(?:Z|UTC|GMT)$/i.exec(parts[1]) : null
  const date = dateOf(parts?.[0] ?? text, order)
  if (date === null || date === 'unclear') return date
  const time = parts ? timeOf(zoned?.[1] ?? parts[1]) : '00:00:00'
  if (time === null) return null
  return zoned ? isoInstant(`${date}T${time}Z`) : local(date, time)
}

/**
 * Several values of a cell, divided by semicolons or line breaks. One in quotation marks is a JSON string, as
 * our exports write what has a semicolon in it (D81).
 */
export function itemsOf(text: string, separators = /[;\r\n]/): string[] {
  if (!text.includes('"')) {
    const items = text.split(separators).map(item => item.trim())
    return items.filter(item => item !== '')
  }
  const items: string[] = []
  let rest = text.trim()
  while (rest !== '') {
    const quoted = quotedItem.exec(rest)?.[0]
    const value = quoted === undefined ? undefined : json(quoted)
    const end = quoted === undefined ? rest.search(separators) : quoted.length
    const item = end < 0 ? rest : rest.slice(0, end)
    const found = typeof value === 'string' ? value : item.trim()
    if (found !== '') items.push(found)
    rest = end < 0 ? '' : rest.slice(end).trimStart()
    if (rest !== '' && separators.test(rest[0]!)) rest = rest.slice(1).trimStart()
  }
  return items
}

const quotedItem = /^"[^"\\]*(?:\\.[^"\\]*)*"(?=\s*(?:[;\r\n]|$))/
/** What a cell may have of JSON. */
const jsonLimits = { levels: 20, items: 100_000 }

/** JSON text → its value; undefined for another text, and for one that is nested deeply or has very much. */
export function json(text: string): Json | undefined {
  try {
    return parseExactly(text, jsonLimits)
  } catch {
    return undefined
  }
}
