/** Validates the operands of a filter: texts, ranges and names (D29 to D31, D75, D112). */
import { type Hint, type Problems, parameterProblem } from '../errors.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import { codePoints } from '../fields/code-points.ts'
import { decimal } from '../fields/decimal.ts'
import { spellings } from '../fields/name.ts'
import type { OperandProblem, Term } from '../fields/operators.ts'
import { fold } from '../fold.ts'
import type { NameLookup } from '../records/name-lookup.ts'
import { nameProblem } from '../records/names.ts'
import type { Plan } from './resolve.ts'

export type ResolveContext = {
  readonly schema: ResourceSchema
  readonly catalog: Catalog
  readonly problems: Problems
  readonly names: NameLookup
}

/** The longest text that `like` may search for (D112). */
const likeMax = 1000

/**
 * The id of the record that an operand names (D75); null if a name can't stand for an id, '' after a problem
 * and while names are not looked up.
 */
export function namedId(
  resource: string,
  text: string,
  field: string,
  context: ResolveContext,
): string | null {
  const { names, catalog, problems } = context
  if (!catalog.resources.get(resource)?.resource.namedBy) return null
  const matches = names.matches(resource, text)
  if (names.areTooMany) reject(context, field, 'filter', 'too_many', 'A request has at most 1000 names')
  if (!matches || names.areTooMany) return ''
  const wrong = nameProblem(resource, text, matches, names.near(resource, text))
  if (!wrong) return String(matches[0]!.id)
  problems.add(
    () => ({ field, path: '', parameter: 'filter', ...wrong, message: `${field} ${wrong.message}.` }),
    nothingHint(field, text),
  )
  return ''
}

/** Hint for a value that seems to mean "no value". */
export function nothingHint(name: string, value: string): string | undefined {
  const isNone = /^\s*(null|nil|none|undefined|""|'')?\s*$/i.test(value)
  return isNone
    ? `For records without it write ${name}:isnull(true), for those with it notnull(true).`
    : undefined
}

/** The text to search for, in each Unicode spelling: people don't see how a が was typed. */
export function likeValues(
  values: readonly string[],
  name: string,
  context: ResolveContext,
): readonly string[] {
  const text = values[0]!
  if (fold(text) === '') reject(context, name, 'filter', 'invalid_value', 'like needs a text to look for')
  else if (!isText(text)) reject(context, name, 'filter', 'invalid_value', noText.message)
  else if (codePoints(text) > likeMax)
    reject(context, name, 'filter', 'too_long', `like takes at most ${likeMax} characters`)
  else return spellings(text)
  return []
}

/** The problem of a text that PostgreSQL can't store. */
export const noText: OperandProblem = { message: 'A value must not contain NUL or half of a surrogate pair' }

/** True if PostgreSQL can store a text. */
export function isText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

/** Reports a range that doesn't have two ends, or that runs backwards. */
export function checkBetween(
  operands: readonly string[],
  term: Term,
  name: string,
  context: ResolveContext,
): void {
  if (operands.length !== 2) {
    reject(
      context,
      name,
      'filter',
      'invalid_value',
      `between takes two values, not ${operands.length}`,
      `For example ${name}:between(1,5).`,
    )
    return
  }
  const [from, to] = operands as [string, string]
  const backwards =
    term.type === 'numeric' || term.type === 'bigint'
      ? (decimal(from)?.gt(decimal(to) ?? from) ?? false)
      : Buffer.compare(Buffer.from(from), Buffer.from(to)) > 0
  if (backwards) reject(context, name, 'filter', 'invalid_value', 'between needs the lower value first')
}

/** Reports a problem of a parameter. */
export function reject(
  context: ResolveContext,
  field: string,
  parameter: string,
  code: string,
  message: string,
  hint?: Hint,
): void {
  context.problems.add(() => ({ field, path: '', code, message: `${message}.`, parameter }), hint)
}

/** in characters, of all `like`s together */
const mostOfRequest = 10_000

/** Adds a problem if the `like`s of a filter are too long together. */
export function refuseCostlyLikes(plan: Plan, problems: Problems): void {
  const length = lengthOf(plan)
  if (length <= mostOfRequest) return
  const message = `The likes look for ${length} characters in all; a request may look for ${mostOfRequest}.`
  problems.add(() => parameterProblem('filter', 'too_long', message), 'Ask in several requests.')
}

function lengthOf(plan: Plan): number {
  if (plan.type === 'not') return lengthOf(plan.of)
  if (plan.type !== 'condition') return plan.of.reduce((sum, inner) => sum + lengthOf(inner), 0)
  return plan.operator === 'like' ? plan.values.reduce((sum, text) => sum + codePoints(text), 0) : 0
}
