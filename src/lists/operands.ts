/**
 * Reads the values of a filter's conditions: texts, ranges, and names that stand for ids (D29 to D31, D75). A
 * plain day in a condition on moments means the whole day in the account's time zone (D42).
 */
import type { Condition, FilterNode } from '../../client/src/filter.ts'
import { codePoints, isStorable } from '../fields/code-points.ts'
import { decimal } from '../fields/decimal.ts'
import { spellings } from '../fields/name.ts'
import { equality, type OperandProblem, type Operator, type Term } from '../fields/term.ts'
import { fold } from '../fold.ts'
import { nameProblem } from '../records/names.ts'
import type { QueryContext } from './list-request.ts'
import { addProblem, type Query } from './parameters.ts'
import { conditionsOf, type Plan, type ResolvedTerm } from './plan.ts'

/** Maximum number of values of a condition. More values need several requests. */
export const valuesMax = 5000
/** The longest text that `like` may search for, and all of a request together (D112). */
const [likeMax, likesMax] = [1000, 10_000]

/** The values of a condition as texts for the database. One value may name several options. */
export function operandsOf(
  { field: name, operator, values }: Condition,
  { field, term }: ResolvedTerm,
  context: QueryContext,
): readonly string[] {
  if (operator === 'like') return likeValues(values[0]!, name, context)
  const { count } = context.problems
  const operands = distinct(operator, values).flatMap(value => {
    const operand = isStorable(value) ? term.operand(value, context.catalog) : noText
    if (typeof operand === 'string' || Array.isArray(operand)) return operand
    const of = term.idsOf ?? field.related
    const isNamed = of && operand !== noText && (equality as readonly Operator[]).includes(operator)
    const id = isNamed ? namedId(of, value, name, context) : null
    if (id !== null) return id
    rejectOperand(operand as OperandProblem, value, term, name, context)
    return ''
  })
  if (operator === 'between') checkBetween(operands, term, name, context, context.problems.count > count)
  return distinct(operator, operands)
}

/**
 * Adds a problem if the `like`s of a filter are too long together (D112). A `like` is compared at every
 * position of a record's text, which at worst costs the product of the two lengths.
 */
export function checkLikes(plan: Plan, { problems }: Query): void {
  const texts = conditionsOf(plan).flatMap(({ operator, values }) => (operator === 'like' ? values : []))
  const length = texts.reduce((sum, text) => sum + codePoints(text), 0)
  if (length <= likesMax) return
  const message = `The likes look for ${length} characters in all; a request may look for ${likesMax}.`
  addProblem(problems, 'filter', 'too_long', message, { hint: 'Ask in several requests.' })
}

/** Removes duplicates, except from a range: its two ends may be equal. */
function distinct(operator: Operator, values: readonly string[]): readonly string[] {
  return operator === 'between' ? values : [...new Set(values)]
}

/**
 * The id of the record that an operand names (D75); null if a name can't stand for an id, '' after a problem
 * and while names are not looked up.
 */
function namedId(resource: string, text: string, field: string, context: QueryContext): string | null {
  const { names, catalog, problems } = context
  if (!catalog.resources.get(resource)?.resource.namedBy) return null
  const matches = names.matches(resource, text)
  if (names.areTooMany)
    addProblem(problems, 'filter', 'too_many', 'A request has at most 1000 names.', { field })
  if (!matches || names.areTooMany) return ''
  const wrong = nameProblem(resource, text, matches, names.near(resource, text))
  if (!wrong) return String(matches[0]!.id)
  problems.add(
    () => ({ field, path: '', parameter: 'filter', ...wrong, message: `${field} ${wrong.message}.` }),
    nothingHint(field, text),
  )
  return ''
}

function rejectOperand(
  { message, hint }: OperandProblem,
  value: string,
  term: Term,
  field: string,
  { catalog, problems }: QueryContext,
): void {
  const withPlus = value.includes(' ') ? term.operand(value.replaceAll(' ', '+'), catalog) : null
  const wasPlus = typeof withPlus === 'string' || Array.isArray(withPlus)
  const more = { field, hint: wasPlus ? plusHint : (nothingHint(field, value) ?? hint) }
  addProblem(problems, 'filter', 'invalid_value', `${message}.`, more)
}

const plusHint = 'In an address + stands for a blank: write + as %2B.'

/** Hint for a value that seems to mean "no value". */
function nothingHint(name: string, value: string): string | undefined {
  const isNone = /^(null|nil|none|undefined|""|'')?$/i.test(value.trim())
  return isNone
    ? `For records without it write ${name}:isnull(true), for those with it notnull(true).`
    : undefined
}

/** The text to search for, in each Unicode spelling: people don't see how a が was typed. */
function likeValues(text: string, field: string, { problems }: QueryContext): readonly string[] {
  const more = { field }
  if (fold(text) === '')
    addProblem(problems, 'filter', 'invalid_value', 'like needs a text to look for.', more)
  else if (!isStorable(text)) addProblem(problems, 'filter', 'invalid_value', `${noText.message}.`, more)
  else if (codePoints(text) > likeMax)
    addProblem(problems, 'filter', 'too_long', `like takes at most ${likeMax} characters.`, more)
  else return spellings(text)
  return []
}

/** The problem of a text that PostgreSQL can't store. */
const noText: OperandProblem = { message: 'A value must not contain NUL or half of a surrogate pair' }

/** Adds a problem if a range doesn't have two ends, or runs backwards. `isUnread`: an end is no value. */
function checkBetween(
  operands: readonly string[],
  term: Term,
  field: string,
  { problems }: QueryContext,
  isUnread: boolean,
): void {
  if (operands.length !== 2) {
    const message = `between takes two values, not ${operands.length}.`
    const hint = `For example ${field}:between(1,5).`
    addProblem(problems, 'filter', 'invalid_value', message, { field, hint })
    return
  }
  if (isUnread) return
  const [from, to] = operands as [string, string]
  const backwards =
    term.type === 'numeric' || term.type === 'bigint'
      ? (decimal(from)?.gt(decimal(to) ?? from) ?? false)
      : Buffer.compare(Buffer.from(from), Buffer.from(to)) > 0
  if (backwards)
    addProblem(problems, 'filter', 'invalid_value', 'between needs the lower value first.', { field })
}

/** The first and the last value that an operand stands for; null for an operand that is one value. */
type SpanOf = (text: string) => readonly [first: string, last: string] | null

/** A condition whose values stand for several, such as plain days, on these; null if none does. */
export function asSpans(condition: Condition, spanOf: SpanOf): FilterNode | null {
  const { operator, values } = condition
  const spans = values.map(spanOf)
  if (spans.every(span => span === null)) return null
  const at = (end: (index: number) => 0 | 1): Condition => ({
    ...condition,
    values: values.map((value, index) => spans[index]?.[end(index)] ?? value),
  })
  switch (operator) {
    case 'gte':
    case 'lt':
      return at(() => 0)
    case 'lte':
    case 'gt':
      return at(() => 1)
    case 'between':
      if (spans[0] && isSkipped(spans[0]) && values[0] === values[1]) return none(condition)
      return at(index => (index === 0 ? 0 : 1))
    case 'eq':
    case 'in':
      return anyOf(condition, spans)
    case 'neq':
    case 'nin':
      return { type: 'not', of: [anyOf({ ...condition, operator: operator === 'neq' ? 'eq' : 'in' }, spans)] }
    default:
      return null
  }
}

function anyOf(condition: Condition, spans: readonly ReturnType<SpanOf>[]): FilterNode {
  const within = spans.flatMap((span): Condition[] => {
    if (!span) return []
    return [isSkipped(span) ? none(condition) : { ...condition, operator: 'between', values: span }]
  })
  const others = condition.values.filter((_, index) => spans[index] === null)
  return { type: 'or', of: others.length ? [...within, { ...condition, values: others }] : within }
}

/** True for the span of a day that the time zone has left out, as Samoa did when it crossed the date line. */
function isSkipped([first, last]: readonly [string, string]): boolean {
  return last < first
}

function none(condition: Condition): Condition {
  return { ...condition, operator: 'in', values: [] }
}
