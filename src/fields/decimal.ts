/**
 * Exact decimals (D14), on big.js. Amounts travel as JSON numbers or decimal text and are stored in their
 * shortest form ("12.5", never "12.50"), so that the same amount is the same text everywhere.
 */
import Big from 'big.js'
import { isRawNumber, type Json, jsonNumber, type RawNumber } from '../json.ts'
import { type Sql, sql } from '../sql.ts'

export type Decimal = Big

Big.RM = Big.roundHalfEven
// Big.DP bounds divisions only; quotients here are percentages and rates
Big.DP = 30

const digits = '(?:\\d+\\.?\\d*|\\.\\d+)'
const decimalText = new RegExp(`^-?${digits}(?:[eE][+-]?\\d{1,2})?$`)

/** Decimal text as a JSON Schema pattern; `plainPattern` allows only digits and a point. */
export const decimalPattern = `^\\s*\\+?-?${digits}(?:[eE][+-]?\\d{1,2})?\\s*$`
export const plainPattern = `^${digits}$`

/**
 * The exact decimal of a JSON number or of decimal text; null for anything else, and for exponents beyond
 * ±99.
 */
export function decimal(value: unknown): Decimal | null {
  const text = isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || text.length > 100) return null
  // big.js reads no leading plus.
  const trimmed = text.trim().replace(/^\+/, '')
  return decimalText.test(trimmed) ? new Big(trimmed) : null
}

/** Decimal → the JSON number of exactly that value. */
export function decimalJson(value: Decimal): number | RawNumber {
  return jsonNumber(plain(value))
}

/** Decimal → its shortest plain text, without an exponent, as stored in the database. */
export function plain(value: Decimal): string {
  const text = value.toFixed()
  return text === '-0' ? '0' : text
}

/** The number of digits after the point: 12.50 → 1. */
export function decimalPlaces(value: Decimal): number {
  return Math.max(0, value.c.length - value.e - 1)
}

/** Half-even rounding to a currency's decimals (D23, D24). */
export function rounded(value: Decimal, decimals: number): Decimal {
  return value.round(decimals, Big.roundHalfEven)
}

/** The text of a number member in a stored value, for a numeric column. */
export function numberText(value: Json | undefined): string | null {
  if (value === null || value === undefined) return null
  return isRawNumber(value) ? value.rawJSON : String(value)
}

/**
 * SQL of an amount rounded half-even to `decimals` (both SQL), as PostgreSQL itself rounds half away from
 * zero. It multiplies amounts, also by 0.01 for a per cent: a division has only sixteen digits.
 */
export function halfEven(amount: Sql, decimals: Sql): Sql {
  const scaled = sql`((${amount}) * ('1e' || ${decimals})::numeric)`
  const isHalf = sql`abs(${scaled} - trunc(${scaled})) = 0.5`
  const even = sql`CASE WHEN ${isHalf} THEN 2 * round(${scaled} * 0.5) ELSE round(${scaled}) END`
  return sql`trim_scale((${even}) * ('1e-' || ${decimals})::numeric)`
}
