/**
 * The texts of a list query (D30): of a filter ⇄ a tree, by `parseFilter` and `printFilter`, and of a sort →
 * its keys. The service and the web UI read them by this file, too. Knows no field and sends no request;
 * every error names its position.
 */

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
] as const
export type Operator = (typeof operators)[number]

export type Condition = {
  readonly type: 'condition'
  /** a field, one of its members, or a field of a referenced record: `company.name` */
  readonly field: string
  readonly operator: Operator
  /** one value; several for an operator that takes a list */
  readonly values: readonly string[]
}

/** and(…), or(…); not(…) means "not all of them". */
export type Group = { readonly type: 'and' | 'or' | 'not'; readonly of: readonly FilterNode[] }
/** A part of a filter. Clients import it as `Term`, a word that the service needs for fields of lists. */
export type FilterNode = Condition | Group
/** All of it must hold; empty: everything. */
export type Filter = readonly FilterNode[]

/** A syntax error and its place: `position` counts from 0. */
export class FilterError extends Error {
  readonly position: number
  readonly hint: string | undefined
  /** the unknown operator */
  readonly operator: string | undefined

  constructor(
    message: string,
    position: number,
    more: { readonly hint?: string; readonly operator?: string } = {},
  ) {
    super(message)
    this.position = position
    this.hint = more.hint
    this.operator = more.operator
  }
}

/** Limit of the conditions of all filters of a request. */
export const conditionsMax = 50
const depthMax = 5
const lists: ReadonlySet<Operator> = new Set(['in', 'nin', 'between'])
export const example = 'For example filter=title:like(renewal),pipeline_stage:in(3,4).'

/** True if it takes several values. */
export const takesList = (operator: Operator): boolean => lists.has(operator)

/** Counts the conditions that were read: the limit applies to all filters of a request. */
export type Count = { conditions: number }

/**
 * Conditions separated by commas, and(…), or(…), not(…); the empty text is the empty filter. Throws
 * FilterError.
 */
export function parseFilter(text: string, count: Count = { conditions: 0 }): Filter {
  if (text.trim() === '') return []
  const reader = { text, at: 0, count }
  const nodes = readNodes(reader, 0)
  const rest = text[reader.at]
  if (rest === undefined) return nodes
  const quoting =
    'A value with a parenthesis that is not closed stands in quotes in a list: title:in("Acme :)").'
  throw new FilterError(`Unexpected "${rest}"`, reader.at, { hint: rest === ')' ? quoting : example })
}

/** A text that parses to the filter. Throws FilterError if there is none (`unprintable`). */
export function printFilter(filter: Filter): string {
  return filter.map(printNode).join(',')
}

/** Reason why a condition has no text, or undefined: raw text ends at the parenthesis that closes it. */
export function unprintable({ operator, values }: Condition): string | undefined {
  if (operator === 'between' && values.length !== 2) return 'Enter both values.'
  if (values.length === 0) return 'Enter a value.'
  if (takesList(operator) || operator === 'eq' || operator === 'neq') return undefined
  return isBalanced(values[0]!) ? undefined : 'A parenthesis here needs its other half.'
}

function printNode(node: FilterNode): string {
  if (node.type !== 'condition') return `${node.type}(${node.of.map(printNode).join(',')})`
  const wrong = unprintable(node)
  if (wrong) throw new FilterError(wrong, 0)
  const { field, operator, values } = node
  if (takesList(operator)) return `${field}:${operator}(${values.map(listed).join(',')})`
  const [value] = values as readonly [string]
  if (isBalanced(value)) return `${field}:${operator}(${value})`
  return `${field}:${operator === 'eq' ? 'in' : 'nin'}(${listed(value)})`
}

/** A value in a list: unchanged, or in double quotes. */
function listed(value: string): string {
  const isBare = value !== '' && value === value.trim() && !/[,()"]/.test(value)
  return isBare ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
}

function isBalanced(text: string): boolean {
  let open = 0
  for (const character of text) {
    open += character === '(' ? 1 : character === ')' ? -1 : 0
    if (open < 0) return false
  }
  return open === 0
}

export type SortKey = { readonly field: string; readonly direction: 'asc' | 'desc' }

/**
 * `field:direction` separated by commas; the empty text is no order. A repeated field is dropped, as it can't
 * change the order. Throws FilterError.
 */
export function parseSort(text: string): SortKey[] {
  if (text.trim() === '') return []
  let position = 0
  const keys = new Map<string, SortKey>()
  for (const part of text.split(',')) {
    const [, field, direction] = /^\s*([A-Za-z_][\w.]*):(asc|desc)\s*$/.exec(part) ?? []
    if (!field) throw new FilterError(`"${part}" is not a sort key`, position)
    position += part.length + 1
    if (!keys.has(field)) keys.set(field, { field, direction: direction as SortKey['direction'] })
  }
  return [...keys.values()]
}

type Reader = { readonly text: string; at: number; readonly count: Count }

function readNodes(reader: Reader, depth: number): FilterNode[] {
  if (depth > depthMax) throw new FilterError(`The filter is nested more than ${depthMax} deep`, reader.at)
  const nodes = [readNode(reader, depth)]
  while (reader.text[reader.at] === ',') {
    reader.at++
    nodes.push(readNode(reader, depth))
  }
  return nodes
}

function readNode(reader: Reader, depth: number): FilterNode {
  skipSpaces(reader)
  const name = /[\p{L}_][\p{L}\p{N}_.-]*/uy
  name.lastIndex = reader.at
  const word = name.exec(reader.text)?.[0]
  if (!word) throw new FilterError('A field name is expected here', reader.at, { hint: example })
  reader.at += word.length
  const next = reader.text[reader.at]
  if (next === '(' && (word === 'and' || word === 'or' || word === 'not')) {
    reader.at++
    const of = readNodes(reader, depth + 1)
    skipSpaces(reader)
    if (reader.text[reader.at] !== ')') throw new FilterError(`")" is expected to end ${word}(`, reader.at)
    reader.at++
    skipSpaces(reader)
    return { type: word, of }
  }
  if (next !== ':')
    throw new FilterError(`":" and an operator are expected after "${word}"`, reader.at, { hint: example })
  reader.at++
  return readCondition(reader, word)
}

function readCondition(reader: Reader, field: string): Condition {
  const start = reader.at
  const word = /[A-Za-z_]*/y
  word.lastIndex = start
  const operator = word.exec(reader.text)![0] as Operator
  if (!operators.includes(operator))
    throw new FilterError(`There is no operator "${operator}"`, start, { operator })
  reader.at += operator.length
  if (reader.text[reader.at] !== '(')
    throw new FilterError(`"(" is expected after "${operator}"`, reader.at, { hint: example })
  reader.at++
  if (++reader.count.conditions > conditionsMax) {
    const hint = 'Ask in several requests.'
    throw new FilterError(`The filter has more than ${conditionsMax} conditions`, start, { hint })
  }
  const values = takesList(operator) ? readList(reader) : [readRaw(reader)]
  reader.at++
  skipSpaces(reader)
  return { type: 'condition', field, operator, values }
}

/** Raw text up to the parenthesis that balances the opening one. */
function readRaw(reader: Reader): string {
  const start = reader.at
  let open = 1
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]
    if (character === '(') open++
    else if (character === ')' && --open === 0) return reader.text.slice(start, reader.at)
  }
  const hint = 'A value with an unbalanced parenthesis goes into in("…").'
  throw new FilterError('The closing ")" is missing', start, { hint })
}

/**
 * Values separated by commas, up to ")". A value with a comma or a parenthesis stands in double quotes, with
 * \" and \\.
 */
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
  if (value === '')
    throw new FilterError('A value is missing here', start, { hint: 'The empty text is written as "".' })
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

function skipSpaces(reader: Reader): void {
  while (reader.text[reader.at] === ' ') reader.at++
}
