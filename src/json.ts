/**
 * Reads JSON without losing a digit (D14). Knows nothing of fields.
 * A number that a double can't hold becomes a raw JSON number (JSON.rawJSON), which JSON.stringify writes back unchanged.
 */
import Big from 'big.js'

/** An interface, not a type: it must not pass for a JsonObject. */
export interface RawNumber {
  readonly rawJSON: string
}
export type JsonObject = { [name: string]: Json }
export type Json = string | number | boolean | null | RawNumber | Json[] | JsonObject

const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
}

/** True for a number that JSON.parse would have rounded. */
export const isRawNumber = isRawJSON

/** Parses JSON text (RFC 8259). Throws SyntaxError. Numbers come as `number` where that is exact, else as RawNumber. */
export function parseJson(text: string): Json {
  // Only 16 digits or an exponent can be lost; without them the plain parser is several times faster.
  return mayLoseDigits.test(text) ? (JSON.parse(text, exactNumber as never) as Json) : JSON.parse(text)
}

const mayLoseDigits = /\d[\d.]{15}|\d[eE]/

/** A number stays one if a double prints the same decimal, however it was spelt: 1.0 and 1e0 are 1 whatever stands beside them. */
function exactNumber(_name: string, value: unknown, { source }: { source: string }): unknown {
  if (typeof value !== 'number' || String(value) === source) return value
  return Number.isFinite(value) && new Big(source).eq(value) ? value : rawJSON(source)
}

/** The JSON value of a decimal number written as text: what parseJson makes of it. */
export function jsonNumber(text: string): number | RawNumber {
  return exactNumber('', Number(text), { source: text }) as number | RawNumber
}

/** Whether two values say the same: numbers by what they are worth, however they are spelt; members in any order. */
export function isSameJson(one: Json, other: Json): boolean {
  if (one === other) return true
  if (isNumber(one) && isNumber(other)) return new Big(JSON.stringify(one)).eq(JSON.stringify(other))
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => isSameJson(item, other[index]!))
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  const isSame = (name: string) => Object.hasOwn(other, name) && isSameJson(one[name]!, other[name]!)
  return names.length === Object.keys(other).length && names.every(isSame)
}

function isNumber(value: Json): value is number | RawNumber {
  return typeof value === 'number' || isRawJSON(value)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)
}
