/**
 * The interface's text of a filter ⇄ a model to edit (the interface's List query grammar, D30): `parseFilter`
 * and `printFilter`. Knows no field; every error names its position.
 */
import type { Schemas } from '../api/api.ts'

export type Operator = Schemas['field']['operators'][number]

export const operators = [
  'eq',
  'neq',
  'in',
  'nin',
  'lt',
  'lte',
  'gt',
  'gte',
  'between',
  'like',
  'isnull',
  'notnull',
  'exists',
] as const satisfies readonly Operator[]

export type Condition = {
  readonly type: 'condition'
  /** a field, one of its members, or a field of what it points to: `company.name` */
  readonly field: string
  readonly operator: Operator
  /** one; several of an operator that takes a list */
  readonly values: readonly string[]
}

/** and(…), or(…); not(…) means "not all of them". */
export type Group = { readonly type: 'and' | 'or' | 'not'; readonly of: readonly Term[] }
export type Term = Condition | Group
/** All of it must hold; empty: everything. */
export type Filter = readonly Term[]

/** A syntax error: `position` counts from 0. */
export class FilterError extends Error {
  readonly position: number
  constructor(message: string, position: number) {
    super(message)
    this.position = position
  }
}

const conditionsMax = 50
const depthMax = 5
const lists: ReadonlySet<Operator> = new Set(['in', 'nin', 'between'])

/** True if it takes several values. */
export const takesList = (operator: Operator): boolean => lists.has(operator)

/** True if its operand is only true or false. */
export const asksPresence = (operator: Operator): boolean =>
  ['isnull', 'notnull', 'exists'].includes(operator)

/** Reads a filter; the empty text is the empty filter. Throws FilterError. */
export function parseFilter(text: string): Filter {
  if (text.trim() === '') return []
  const reader = { text, at: 0, conditions: 0 }
  const terms = readTerms(reader, 0)
  if (reader.at < text.length) throw new FilterError(`Unexpected "${text[reader.at]}"`, reader.at)
  return terms
}

/** A text that means the filter. Throws FilterError where none does (`unprintable`). */
export function printFilter(filter: Filter): string {
  return filter.map(printTerm).join(',')
}

/** Why a condition has no text, or undefined: raw text ends at the parenthesis that closes it. */
export function unprintable({ operator, values }: Condition): string | undefined {
  if (operator === 'between' && values.length !== 2) return 'Enter both values.'
  if (values.length === 0) return 'Enter a value.'
  if (takesList(operator) || operator === 'eq' || operator === 'neq') return undefined
  return isBalanced(values[0]!) ? undefined : 'A parenthesis here needs its other half.'
}

/** The filter with the term at `path` replaced, or without it. A group that has nothing left goes too. */
export function replaced(filter: Filter, path: readonly number[], by: Term | null): Filter {
  const [index, ...rest] = path
  return filter.flatMap((term, at) => {
    if (at !== index) return [term]
    if (rest.length === 0) return by ? [by] : []
    if (term.type === 'condition') return [term]
    const of = replaced(term.of, rest, by)
    return of.length ? [{ ...term, of }] : []
  })
}

/** How many conditions a filter has: the service takes at most `conditionsMax`. */
export const countConditions = (filter: Filter): number =>
  filter.reduce((sum, term) => sum + (term.type === 'condition' ? 1 : countConditions(term.of)), 0)

function printTerm(term: Term): string {
  if (term.type !== 'condition') return `${term.type}(${term.of.map(printTerm).join(',')})`
  const wrong = unprintable(term)
  if (wrong) throw new FilterError(wrong, 0)
  const { field, operator, values } = term
  if (takesList(operator)) return `${field}:${operator}(${values.map(listed).join(',')})`
  const [value] = values as readonly [string]
  if (isBalanced(value)) return `${field}:${operator}(${value})`
  return `${field}:${operator === 'eq' ? 'in' : 'nin'}(${listed(value)})`
}

/** A value in a list: as it is, or in double quotes. */
function listed(value: string): string {
  const isLabelHidden = value !== '' && value === value.trim() && !/[,()"]/.test(value)
  return isLabelHidden ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

function isBalanced(text: string): boolean {
  let open = 0
  for (const character of text) {
    open += character === '(' ? 1 : character === ')' ? -1 : 0
    if (open < 0) return false
  }
  return open === 0
}

type Reader = { readonly text: string; at: number; conditions: number }

function readTerms(reader: Reader, depth: number): Term[] {
  if (depth > depthMax) throw new FilterError(`The filter is nested more than ${depthMax} deep`, reader.at)
  const terms = [readTerm(reader, depth)]
  while (reader.text[reader.at] === ',') {
    reader.at++
    terms.push(readTerm(reader, depth))
  }
  return terms
}

function readTerm(reader: Reader, depth: number): Term {
  skipSpaces(reader)
  const name = /[\p{L}_][\p{L}\p{N}_.-]*/uy
  name.lastIndex = reader.at
  const word = name.exec(reader.text)?.[0]
  if (!word) throw new FilterError('A field name is expected here', reader.at)
  reader.at += word.length
  const next = reader.text[reader.at]
  if (next === '(' && (word === 'and' || word === 'or' || word === 'not')) {
    reader.at++
    const of = readTerms(reader, depth + 1)
    skipSpaces(reader)
    if (reader.text[reader.at] !== ')') throw new FilterError(`")" is expected to end ${word}(`, reader.at)
    reader.at++
    skipSpaces(reader)
    return { type: word, of }
  }
  if (next !== ':') throw new FilterError(`":" and an operator are expected after "${word}"`, reader.at)
  reader.at++
  return readCondition(reader, word)
}

function readCondition(reader: Reader, field: string): Condition {
  const start = reader.at
  const word = /[A-Za-z_]*/y
  word.lastIndex = start
  const operator = word.exec(reader.text)![0] as Operator
  if (!operators.includes(operator)) throw new FilterError(`There is no operator "${operator}"`, start)
  reader.at += operator.length
  if (reader.text[reader.at] !== '(') throw new FilterError(`"(" is expected after "${operator}"`, reader.at)
  reader.at++
  if (++reader.conditions > conditionsMax)
    throw new FilterError(`The filter has more than ${conditionsMax} conditions`, start)
  const values = takesList(operator) ? readList(reader) : [readRaw(reader)]
  reader.at++
  skipSpaces(reader)
  return { type: 'condition', field, operator, values }
}

/** The text up to the parenthesis that balances the opening one. */
function readRaw(reader: Reader): string {
  const start = reader.at
  let open = 1
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]
    if (character === '(') open++
    else if (character === ')' && --open === 0) return reader.text.slice(start, reader.at)
  }
  throw new FilterError('The closing ")" is missing', start)
}

function readList(reader: Reader): string[] {
  const values: string[] = []
  for (;;) {
    skipSpaces(reader)
    values.push(reader.text[reader.at] === '"' ? readQuoted(reader) : readBare(reader))
    skipSpaces(reader)
    const next = reader.text[reader.at]
    if (next === ')') return values
    if (next !== ',') throw new FilterError('"," or ")" is expected here', reader.at)
    reader.at++
  }
}

function readBare(reader: Reader): string {
  const start = reader.at
  while (reader.at < reader.text.length && !',()"'.includes(reader.text[reader.at]!)) reader.at++
  const end = reader.text[reader.at]
  if (end === '(' || end === '"')
    throw new FilterError(`A value with "${end}" must stand in double quotes here`, reader.at)
  if (end === undefined) throw new FilterError('The closing ")" is missing', start)
  const value = reader.text.slice(start, reader.at).trim()
  if (value === '') throw new FilterError('A value is missing here', start)
  return value
}

function readQuoted(reader: Reader): string {
  const start = reader.at
  let value = ''
  for (reader.at++; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]!
    if (character === '"') {
      reader.at++
      return value
    }
    if (character === '\\') {
      const escaped = reader.text[++reader.at]
      if (escaped !== '"' && escaped !== '\\')
        throw new FilterError('After "\\" only " or \\ may follow', reader.at)
      value += escaped
    } else value += character
  }
  throw new FilterError('The closing double quote is missing', start)
}

const skipSpaces = (reader: Reader) => {
  while (reader.text[reader.at] === ' ') reader.at++
}
