/** JSON: a free-form object of at most 16 kB and five levels (D18). */
import { isObject, isRawNumber, type Json } from '../../json.ts'
import { document, equality, type Kind } from '../field.ts'

const maxBytes = 16_384
const maxLevels = 5
/** How the field list names a member of any name, at any depth; the grammar takes it for none. */
const anyPath = '*'

export const json: Kind = {
  members: [anyPath],
  empty: {},
  columns: field => [{ name: field.internal_name, type: 'jsonb' }],
  parse: (input, place) => {
    if (!isObject(input)) return place.problem('wrong_type', 'must be an object')
    if (isDeeper(input, maxLevels)) return place.problem('too_deep', `must have at most ${maxLevels} levels`)
    if (!numbersAreKept(input)) {
      return place.problem('out_of_range', 'must have numbers of at most 100 characters and exponents of at most four digits')
    }
    const text = JSON.stringify(input)
    if (Buffer.byteLength(text) > maxBytes) return place.problem('too_long', `must have at most ${maxBytes} bytes`)
    if (!textsAreKept(input)) {
      return place.problem('invalid_characters', 'must not contain NUL or half of a surrogate pair')
    }
    return input
  },
  write: value => [JSON.stringify(value ?? {})],
  term: (field, member) => {
    const steps = member === '' ? [] : member.split('.')
    // Letters, digits, _ and -: what the grammar takes for a name needs no escape in SQL.
    if (member !== anyPath && steps.some(step => !/^[\p{L}\p{N}_-]{1,64}$/u.test(step))) return null
    const path = steps.map(step => `"${step}"`).join(',')
    return {
      type: 'text',
      sql: steps.length ? `(${document(field)} #>> '{${path}}')` : `NULLIF(${document(field)}, '{}')::text`,
      multi: false,
      operators: [...equality, 'like'],
      operand: text => text,
      order: null,
      // Present is more than not null: {"notes":null} has the member.
      present: steps.length ? `(${document(field)} #> '{${path}}') IS NOT NULL` : `${document(field)} <> '{}'`,
    }
  },
}

/** Whether a value is nested deeper than `levels`; looks no further down than that. */
function isDeeper(value: Json, levels: number): boolean {
  if (!Array.isArray(value) && !isObject(value)) return false
  return levels === 0 || Object.values(value).some(member => isDeeper(member, levels - 1))
}

/** PostgreSQL keeps numbers that no double can, but not all of them. */
function numbersAreKept(value: Json): boolean {
  if (isRawNumber(value)) return value.rawJSON.length <= 100 && !/[eE][+-]?\d{5}/.test(value.rawJSON)
  if (Array.isArray(value)) return value.every(numbersAreKept)
  return !isObject(value) || Object.values(value).every(numbersAreKept)
}

function textsAreKept(value: Json): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (Array.isArray(value)) return value.every(textsAreKept)
  return !isObject(value) || Object.entries(value).every(([name, member]) => textsAreKept(name) && textsAreKept(member))
}
