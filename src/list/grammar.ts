/**
 * The text of the list query → a tree (the interface's List query grammar, D30). Knows no field and no SQL;
 * every error names its position. Which operators take a list of values is part of the grammar.
 */
import type { Hint } from '../errors.ts'
import { suggestion } from '../fields/nearest.ts'
import { type Operator, operators } from '../fields/operators.ts'
import { ourOperator } from '../fields/synonyms.ts'

export type Condition = {
  readonly type: 'condition'
  readonly field: string
  readonly operator: Operator
  readonly values: readonly string[]
}
export type Filter =
  | Condition
  | { readonly type: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly type: 'not'; readonly of: Filter }

export type SortKey = { readonly field: string; readonly direction: 'asc' | 'desc' }

export class GrammarError extends Error {
  readonly position: number
  readonly hint: Hint | undefined
  constructor(message: string, position: number, hint?: Hint) {
    super(message)
    this.position = position
    this.hint = hint
  }
}

/** How many conditions the filters of a request may have together (D30). */
export const conditionsMax = 50
const depthMax = 5
const takesList = new Set<Operator>(['in', 'nin', 'between'])
const example = 'For example filter=title:like(renewal),pipeline_stage:in(3,4).'

/**
 * Counts the conditions that were read. The filters of a request share one counter, because the limit is the
 * request's.
 */
export type Count = { conditions: number }

/** Conditions separated by commas, and(…), or(…), not(…). Throws GrammarError. */
export function parseFilter(text: string, count: Count = { conditions: 0 }): Filter {
  const reader = { text, at: 0, count }
  const filter = joined('and', parseTerms(reader, 0))
  if (reader.at < text.length) {
    const quoting =
      'A value with a parenthesis or a comma stands in double quotes, such as title:eq("Acme :)").'
    throw new GrammarError(
      `Unexpected "${text[reader.at]}"`,
      reader.at,
      text[reader.at] === ')' ? quoting : example,
    )
  }
  return filter
}

/**
 * `field:direction` separated by commas. A field that comes a second time is left out, as it can't change the
 * order. Throws GrammarError.
 */
export function parseSort(text: string): SortKey[] {
  let position = 0
  const keys = text.split(',').map(part => {
    const at = position
    position += part.length + 1
    const match = /^\s*([A-Za-z_][\w.]*):(asc|desc)\s*$/.exec(part)
    if (!match) throw new GrammarError(`"${part}" is not a sort key`, at, sortHint(text))
    return { field: match[1]!, direction: match[2] as 'asc' | 'desc' }
  })
  return [...Map.groupBy(keys, key => key.field).values()].map(([first]) => first!)
}

/** Other systems write "-created_at", "created_at desc" or "created_at". */
function sortHint(text: string): string {
  const keys = text.split(',').map(part => {
    const match = /^\s*(-?)([A-Za-z_][\w.]{0,99})[\s:.]*(asc|desc)?\w*\s*$/i.exec(part)
    return match && `${match[2]}:${(match[3] ?? (match[1] ? 'desc' : 'asc')).toLowerCase()}`
  })
  if (keys.length > 5 || keys.includes(null))
    return 'Write field:asc or field:desc, such as sort=created_at:desc,id:asc.'
  return `Write ${keys.join()}.`
}

type Reader = { readonly text: string; at: number; readonly count: Count }

function parseTerms(reader: Reader, depth: number): Filter[] {
  if (depth > depthMax) throw new GrammarError(`The filter is nested more than ${depthMax} deep`, reader.at)
  const filters = [parseTerm(reader, depth)]
  while (reader.text[reader.at] === ',') {
    reader.at++
    filters.push(parseTerm(reader, depth))
  }
  return filters
}

function joined(type: 'and' | 'or', filters: readonly Filter[]): Filter {
  return filters.length === 1 ? filters[0]! : { type, of: filters }
}

function parseTerm(reader: Reader, depth: number): Filter {
  skipSpaces(reader)
  const start = reader.at
  const name = /[\p{L}_][\p{L}\p{N}_.-]*/uy
  name.lastIndex = start
  const word = name.exec(reader.text)?.[0]
  if (!word) throw new GrammarError('A field name is expected here', start, example)
  reader.at += word.length
  const next = reader.text[reader.at]
  if (next === '(' && (word === 'and' || word === 'or' || word === 'not'))
    return parseGroup(reader, word, depth)
  if (next !== ':')
    throw new GrammarError(`":" and an operator are expected after "${word}"`, reader.at, example)
  reader.at++
  return parseCondition(reader, word)
}

function parseGroup(reader: Reader, word: 'and' | 'or' | 'not', depth: number): Filter {
  reader.at++
  const inner = parseTerms(reader, depth + 1)
  skipSpaces(reader)
  if (reader.text[reader.at] !== ')') throw new GrammarError(`")" is expected to end ${word}(`, reader.at)
  reader.at++
  skipSpaces(reader)
  return word === 'not' ? { type: 'not', of: joined('and', inner) } : joined(word, inner)
}

function parseCondition(reader: Reader, field: string): Condition {
  const start = reader.at
  const word = /[A-Za-z_]*/y
  word.lastIndex = start
  const operator = word.exec(reader.text)![0] as Operator
  if (!operators.includes(operator)) {
    const meant = ourOperator(operator) ?? operator
    const hint = () => suggestion(meant, operators, `The operators: ${operators.join(', ')}.`)
    throw new GrammarError(`There is no operator "${operator}"`, start, hint)
  }
  reader.at += operator.length
  if (reader.text[reader.at] !== '(')
    throw new GrammarError(`"(" is expected after "${operator}"`, reader.at, example)
  reader.at++
  if (++reader.count.conditions > conditionsMax) {
    throw new GrammarError(
      `The filter has more than ${conditionsMax} conditions`,
      start,
      'Ask in several requests.',
    )
  }
  const values = takesList.has(operator) ? parseList(reader) : [parseRaw(reader)]
  reader.at++
  skipSpaces(reader)
  return { type: 'condition', field, operator, values }
}

/** Raw text up to the parenthesis that balances the opening one. */
function parseRaw(reader: Reader): string {
  const start = reader.at
  let open = 1
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]
    if (character === '(') open++
    else if (character === ')' && --open === 0) return reader.text.slice(start, reader.at)
  }
  throw new GrammarError(
    'The closing ")" is missing',
    start,
    'A value with an unbalanced parenthesis goes into in("…").',
  )
}

/**
 * Values separated by commas, up to ")". A value with a comma or a parenthesis stands in double quotes, with
 * \" and \\.
 */
function parseList(reader: Reader): string[] {
  const values: string[] = []
  for (;;) {
    skipSpaces(reader)
    values.push(reader.text[reader.at] === '"' ? parseQuoted(reader) : parseBare(reader))
    skipSpaces(reader)
    const next = reader.text[reader.at]
    if (next === ')') return values
    if (next !== ',') throw new GrammarError('"," or ")" is expected here', reader.at)
    reader.at++
  }
}

function parseBare(reader: Reader): string {
  const start = reader.at
  while (reader.at < reader.text.length && !',()"'.includes(reader.text[reader.at]!)) reader.at++
  if (reader.text[reader.at] === '(' || reader.text[reader.at] === '"') {
    throw new GrammarError(
      `A value with "${reader.text[reader.at]}" must stand in double quotes here`,
      reader.at,
    )
  }
  if (reader.at === reader.text.length) throw new GrammarError('The closing ")" is missing', start)
  const value = reader.text.slice(start, reader.at).trim()
  if (value === '')
    throw new GrammarError('A value is missing here', start, 'The empty text is written as "".')
  return value
}

function parseQuoted(reader: Reader): string {
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
        throw new GrammarError('After "\\" only " or \\ may follow', reader.at)
      value += escaped
    } else value += character
  }
  throw new GrammarError('The closing double quote is missing', start)
}

function skipSpaces(reader: Reader): void {
  while (reader.text[reader.at] === ' ') reader.at++
}
