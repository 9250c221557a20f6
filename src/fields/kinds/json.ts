/**
 * JSON: a free-form object of at most 16 kB and five levels (D18). The size counts numbers with their
 * exponents written out (D111).
 */
import Big from 'big.js'
import { isDeeper, isNumber, isObject, type Json, plainLength, pointerStep } from '../../json.ts'
import { type Sql, sql } from '../../sql.ts'
import { isStorable } from '../code-points.ts'
import { jsonDocument } from '../columns.ts'
import { plain } from '../decimal.ts'
import type { Kind } from '../field.ts'
import { equality } from '../term.ts'
import { anyObject } from './schemas.ts'

const maxBytes = 16_384
const maxLevels = 5
/** Any double has fewer: 5e-324 has 326. */
const maxNumberLength = 500
/** The field list's name for members of any name, at any depth. The grammar does not accept it as a name. */
const anyPath = '*'

export const json: Kind = {
  members: [anyPath],
  empty: {},
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, context) => {
    if (!isObject(input)) return context.problem('wrong_type', 'must be an object')
    if (isDeeper(input, maxLevels))
      return context.problem('too_deep', `must have at most ${maxLevels} levels`)
    const tooLong = () =>
      context.problem('too_long', `must have at most ${maxBytes} bytes, with exponents written out`)
    const asSent = Buffer.byteLength(JSON.stringify(input))
    if (asSent > maxBytes) return tooLong()
    const numbers = [...numbersIn(input)]
    const long = numbers.filter(({ length }) => length > maxNumberLength)
    for (const { at } of long) {
      context.problem(
        'too_long',
        `must have numbers of at most ${maxNumberLength} characters, with exponents written out`,
        { at },
      )
    }
    if (long.length) return undefined
    if (numbers.reduce((sum, { growth }) => sum + growth, asSent) > maxBytes) return tooLong()
    if (!textsAreKept(input)) {
      return context.problem('invalid_characters', 'must not contain NUL or half of a surrogate pair')
    }
    return input
  },
  schema: () => ({ input: anyObject, output: anyObject }),
  write: value => [JSON.stringify(value ?? {})],
  term: (field, member) => {
    const steps = member === '' ? [] : member.split('.')
    // The grammar takes only letters, digits, _ and - in a name, so it needs no escape in SQL.
    if (member !== anyPath && steps.some(step => !/^[\p{L}\p{N}_-]{1,64}$/u.test(step))) return null
    const path = sql.text(`{${steps.map(step => `"${step}"`).join(',')}}`)
    const whole = jsonDocument(field)
    return {
      type: 'text',
      sql: row => (steps.length ? textAt(whole(row), path) : sql`NULLIF(${whole(row)}, '{}')::text`),
      multi: false,
      operators: [...equality, 'like'],
      // Numbers are equal by their value (D14), texts by their characters.
      operand: text => (member === '' ? text : [...new Set([text, plainNumber(text) ?? text])]),
      order: null,
      // A member can be present and null: {"notes":null} has the member.
      present: row =>
        steps.length ? sql`(${whole(row)} #> ${path}) IS NOT NULL` : sql`${whole(row)} <> '{}'`,
    }
  },
}

/** The text of a member; of a number, that without zeros at its end. */
function textAt(document: Sql, path: Sql): Sql {
  const text = sql`(${document} #>> ${path})`
  return sql`CASE WHEN jsonb_typeof(${document} #> ${path}) = 'number'
    THEN trim_scale(${text}::numeric)::text ELSE ${text} END`
}

/** A number of JSON as `textAt` writes it; null for another text, and for one that can't be stored. */
function plainNumber(text: string): string | null {
  if (text.length > maxNumberLength || !isJsonNumber.test(text)) return null
  return plainLength(text) > maxNumberLength ? null : plain(new Big(text))
}

const isJsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * For each number in a value: its length with the exponent written out, the growth over its text, and its
 * place.
 */
function* numbersIn(value: Json, at = ''): Generator<{ length: number; growth: number; at: string }> {
  if (isNumber(value)) {
    const text = JSON.stringify(value)
    const length = plainLength(text)
    yield { length, growth: Math.max(0, length - text.length), at }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* numbersIn(item, `${at}/${index}`)
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) yield* numbersIn(member, `${at}/${pointerStep(name)}`)
  }
}

function textsAreKept(value: Json): boolean {
  if (typeof value === 'string') return isStorable(value)
  if (Array.isArray(value)) return value.every(textsAreKept)
  return (
    !isObject(value) ||
    Object.entries(value).every(([name, member]) => textsAreKept(name) && textsAreKept(member))
  )
}
