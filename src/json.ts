/**
 * Reads JSON without losing a digit (D14). Knows nothing of fields. A number that a double can't hold becomes
 * a raw JSON number (JSON.rawJSON), which JSON.stringify writes back unchanged.
 */
import { unexpected } from './broken-json.ts'

/** An interface, not a type, so that it can't be assigned to a JsonObject. */
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

/** Parses JSON text (RFC 8259). Throws SyntaxError. A number that a double can't hold comes as RawNumber. */
export function parseJson(text: string): Json {
  // Only 16 digits or an exponent can lose precision; without them JSON.parse is exact, and much faster.
  return mayLoseDigits.test(text) ? parseExactly(text) : JSON.parse(text)
}

const mayLoseDigits = /\d[\d.]{15}|\d[eE]/

/**
 * The limits of JSON from outside. With limits, a repeated member is refused (RFC 8259 leaves this to the
 * reader), and so is one named `__proto__`, unless `takesAnyName`.
 */
export type JsonLimits = { readonly levels: number; readonly items: number; readonly takesAnyName?: boolean }

/** Thrown for JSON that exceeds the limits. */
export class JsonLimitError extends Error {}

/** Thrown for an object that has a member twice. */
export class DuplicateMemberError extends JsonLimitError {}

/** Like parseJson, in one pass and within `limits`. Throws JsonLimitError beyond them, and SyntaxError. */
export function parseExactly(text: string, limits: JsonLimits | null = null): Json {
  const reader: Reader = { text, at: 0, limits, levels: 0, items: 0 }
  skipBlanks(reader)
  const value = readValue(reader)
  skipBlanks(reader)
  if (reader.at < text.length) throw unexpected(reader)
  return value
}

/** The value of a JSON text, within `limits`; undefined for another text. */
export function jsonIn(text: string, limits: JsonLimits | null = null): Json | undefined {
  try {
    return limits ? parseExactly(text, limits) : parseJson(text)
  } catch {
    return undefined
  }
}

/**
 * The JSON value of a decimal number written as text. It is a number if a double prints the same decimal,
 * however it is spelt: 1.0 and 1e0 are 1.
 */
export function jsonNumber(text: string): number | RawNumber {
  const value = Number(text)
  const printed = String(value)
  const isSame = printed === text || (Number.isFinite(value) && decimalOf(printed) === decimalOf(text))
  return isSame ? value : rawJSON(text)
}

/**
 * True if two values are equal. Numbers are compared by value, not by spelling; members may be in any order.
 */
export function isSameJson(one: Json, other: Json): boolean {
  if (one === other) return true
  if (isNumber(one) && isNumber(other))
    return decimalOf(JSON.stringify(one)) === decimalOf(JSON.stringify(other))
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSameJson(item, other[index]!))
    )
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  const isSame = (name: string) => Object.hasOwn(other, name) && isSameJson(one[name]!, other[name]!)
  return names.length === Object.keys(other).length && names.every(isSame)
}

/**
 * Number of characters of a number with its exponent written out, as PostgreSQL stores and shows it: 1e3 → 4,
 * 1e-3 → 5.
 */
export function plainLength(token: string): number {
  const [, sign, whole, fraction = '', exponent = '0'] = parts.exec(token)!
  const before = Math.max(1, whole!.length + Number(exponent))
  const after = Math.max(0, fraction.length - Number(exponent))
  return sign!.length + before + (after && after + 1)
}

export function isNumber(value: Json): value is number | RawNumber {
  return typeof value === 'number' || isRawJSON(value)
}

/** A text itself, or the JSON of another value. String() throws for raw numbers and some objects. */
export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** A member's name as a step of a JSON pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)
}

/** True if a value is nested deeper than `levels`. Recurses no deeper than that. */
export function isDeeper(value: Json, levels: number): boolean {
  if (!Array.isArray(value) && !isObject(value)) return false
  return levels === 0 || Object.values(value).some(member => isDeeper(member, levels - 1))
}

/** True for a member that is there, and not null. */
export function isPresent(value: Json | undefined): value is Json {
  return value !== undefined && value !== null
}

/** `items` counts the members and items read so far. */
type Reader = {
  readonly text: string
  at: number
  readonly limits: JsonLimits | null
  levels: number
  items: number
}

function readValue(reader: Reader): Json {
  switch (reader.text[reader.at]) {
    case '{':
      return readObject(reader)
    case '[':
      return readArray(reader)
    case '"':
      return readString(reader)
    case 't':
      return readWord(reader, 'true', true)
    case 'f':
      return readWord(reader, 'false', false)
    case 'n':
      return readWord(reader, 'null', null)
    default:
      return readNumber(reader)
  }
}

function readObject(reader: Reader): JsonObject {
  const object: JsonObject = {}
  open(reader)
  if (!isClosed(reader, '}')) {
    do {
      skipBlanks(reader)
      if (reader.text[reader.at] !== '"') throw unexpected(reader)
      const name = readString(reader)
      refuseName(name, object, reader)
      skipBlanks(reader)
      if (reader.text[reader.at] !== ':') throw unexpected(reader)
      reader.at++
      skipBlanks(reader)
      setMember(object, name, readValue(reader))
    } while (isContinued(reader, '}'))
  }
  reader.levels--
  return object
}

function readArray(reader: Reader): Json[] {
  const array: Json[] = []
  open(reader)
  if (!isClosed(reader, ']')) {
    do {
      skipBlanks(reader)
      array.push(readValue(reader))
    } while (isContinued(reader, ']'))
  }
  reader.levels--
  return array
}

function open(reader: Reader): void {
  const { limits } = reader
  if (limits && ++reader.levels > limits.levels)
    throw new JsonLimitError(`it is nested more than ${limits.levels} levels deep`)
  count(reader)
  reader.at++
}

/** Counts each member and item, and an empty object or array as one. */
function count(reader: Reader): void {
  const { limits } = reader
  if (limits && ++reader.items > limits.items)
    throw new JsonLimitError(`it has more than ${limits.items} members and items`)
}

function isClosed(reader: Reader, end: string): boolean {
  skipBlanks(reader)
  if (reader.text[reader.at] !== end) return false
  reader.at++
  return true
}

/** Called after a member or an item. True if another one follows. */
function isContinued(reader: Reader, end: string): boolean {
  if (isClosed(reader, end)) return false
  if (reader.text[reader.at] !== ',') throw unexpected(reader)
  reader.at++
  count(reader)
  return true
}

function refuseName(name: string, object: JsonObject, { limits }: Reader): void {
  if (!limits) return
  if (name === '__proto__' && !limits.takesAnyName)
    throw new JsonLimitError('"__proto__" is no name of a member')
  if (Object.hasOwn(object, name))
    throw new DuplicateMemberError(`it has the member ${JSON.stringify(name.slice(0, 100))} twice`)
}

function setMember(object: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

/** The text up to the closing quote. */
function readString(reader: Reader): string {
  const { text, at: from } = reader
  let hasEscapes = false
  for (;;) {
    const code = text.charCodeAt(++reader.at)
    if (code === quote) break
    if (code === backslash) {
      hasEscapes = true
      skipEscape(reader)
    } else if (!(code >= blank)) throw unexpected(reader)
  }
  const token = text.slice(from, ++reader.at)
  return hasEscapes ? JSON.parse(token) : token.slice(1, -1)
}

const [quote, backslash, blank] = [34, 92, 32]

/** Moves to the last character of an escape. */
function skipEscape(reader: Reader): void {
  escapes.lastIndex = ++reader.at
  if (!escapes.test(reader.text)) throw unexpected(reader)
  reader.at = escapes.lastIndex - 1
}

const escapes = /["\\/bfnrt]|u[\da-fA-F]{4}/y

function readWord<T>(reader: Reader, word: string, value: T): T {
  if (!reader.text.startsWith(word, reader.at)) throw unexpected(reader)
  reader.at += word.length
  return value
}

function readNumber(reader: Reader): number | RawNumber {
  number.lastIndex = reader.at
  const token = number.exec(reader.text)?.[0]
  if (!token) throw unexpected(reader)
  reader.at += token.length
  return jsonNumber(token)
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** A decimal in canonical form: sign, digits without outer zeros, and the exponent of the last digit. */
function decimalOf(token: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = parts.exec(token)!
  const digits = whole! + fraction
  let [first, end] = [0, digits.length]
  while (digits[first] === '0') first++
  while (end > first && digits[end - 1] === '0') end--
  if (first === end) return '0'
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}

const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/

function skipBlanks(reader: Reader): void {
  const { text } = reader
  while (blanks.includes(text[reader.at] ?? '-')) reader.at++
}

const blanks = ' \n\r\t'
