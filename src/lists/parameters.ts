/**
 * Reads the parameters of a request, as texts: their limits, and values of the forms that several requests
 * have. What is wrong is added to the problems, so that a refusal names everything at once. Knows no field.
 */
import { FilterError, operators } from '../../client/src/filter.ts'
import { type Hint, type ProblemCode, Problems, parameterProblem, Refusal } from '../errors.ts'
import { codePoints, isStorable } from '../fields/code-points.ts'
import { isoDate } from '../fields/iso8601.ts'
import { suggestion } from '../fields/nearest.ts'
import { ourOperator } from '../fields/synonyms.ts'

/** Parameter name → its values, in the order of the query. */
export type Parameters = ReadonlyMap<string, readonly string[]>

/** Parameters that are being read, and the problems found so far. */
export type Query = { readonly parameters: Parameters; readonly problems: Problems }

/**
 * Maximum number of parameters of a request, and of their characters. They allow 5000 values of 25 digits
 * (D30).
 */
const parametersMax = 100
const textMax = 131_072
export const unreadable = 'The list query could not be read.'
const mostCharacters = `A list query has at most ${textMax} characters.`
const askLess = 'Ask in several requests.'
/** Maximum number of records of a page. */
export const pageSizeMax = 500
/** Maximum bytes of a query: a character has at most four in UTF-8. A larger query is not read at all. */
export const queryBytesMax: number = 4 * textMax

/**
 * Begins to read parameters. Throws if there are too many or too long ones; unknown ones are the first
 * problems. `translate`: returns a hint for another system's parameter, or null.
 */
export function beginQuery(
  parameters: Parameters,
  known: readonly string[],
  translate: (name: string, parameters: Parameters) => string | null = () => null,
): Query {
  refuseExcess(parameters)
  const problems = new Problems()
  for (const name of parameters.keys()) {
    if (known.includes(name)) continue
    const usual = () => suggestion(name, known, `The parameters: ${known.join(', ')}.`)
    const hint = () => translate(name, parameters) ?? usual()
    addProblem(problems, name, 'unknown_parameter', `There is no parameter "${name}".`, { hint })
  }
  return { parameters, problems }
}

/** Throws `unknown_parameter` or `malformed_query` with the problems that were found, if any. */
export function throwProblems(problems: Problems, detail: string): void {
  if (problems.count === 0) return
  const isUnknown = problems.listed.every(({ code }) => code === 'unknown_parameter')
  throw new Refusal(isUnknown ? 'unknown_parameter' : 'malformed_query', detail, problems)
}

export function addProblem(
  problems: Problems,
  parameter: string,
  code: ProblemCode,
  message: string,
  { hint, field = null, ...more }: { hint?: Hint | undefined; field?: string | null; position?: number } = {},
): void {
  problems.add(() => ({ ...parameterProblem(parameter, code, message), field, ...more }), hint)
}

/** Adds the problem of a `cursor` that no page has given. */
export function addCursorProblem(problems: Problems): void {
  const message = 'cursor must be the "nextCursor" of a page, as it was given.'
  addProblem(problems, 'cursor', 'invalid_value', message)
}

/** The place after which a page begins, which `read` finds in `cursor`; null if there is none. */
export function cursorOf<T>(query: Query, read: (text: string) => T | null): T | null {
  const text = single(query, 'cursor')
  const place = text === null ? null : read(text)
  if (text !== null && place === null) addCursorProblem(query.problems)
  return place
}

/** The refusal of a query with more than `queryBytesMax` bytes. */
export function queryTooLarge(): Refusal {
  return excess('too_long', mostCharacters)
}

function excess(code: ProblemCode, message: string): Refusal {
  const problems = new Problems()
  addProblem(problems, '', code, message, { hint: askLess })
  return new Refusal('malformed_query', unreadable, problems)
}

/** Refuses too many or too long parameters, with one problem, before anything is parsed. */
function refuseExcess(parameters: Parameters): void {
  const texts = [...parameters.values()].flat()
  refuseManyParameters(Math.max(parameters.size, texts.length))
  const length = [...parameters.keys(), ...texts].reduce((sum, text) => sum + text.length, 0)
  if (length > textMax) throw excess('too_long', `${mostCharacters.slice(0, -1)}, not ${length}.`)
}

/** Refuses a list query of `count` parameters, if that is too many: counting takes no time, reading does. */
export function refuseManyParameters(count: number): void {
  const most = `A list query has at most ${parametersMax} parameters, each filter counted.`
  if (count > parametersMax) throw excess('too_many', most)
}

/** The one value of a parameter; null if it is absent or empty. */
export function single({ parameters, problems }: Query, name: string): string | null {
  const values = parameters.get(name) ?? []
  if (values.length > 1) addProblem(problems, name, 'contradiction', `${name} may be given only once.`)
  return values[0] || null
}

/** The values of a parameter that separates them by commas, each once. */
export function listed(query: Query, name: string): string[] | null {
  const text = single(query, name)
  return text === null ? null : [...new Set(text.split(',').map(one => one.trim()))]
}

/** The code and message of the problem of a text to look for; null: it has at most `longest` characters. */
export function textProblem(
  name: string,
  text: string,
  longest: number,
): readonly [ProblemCode, string] | null {
  const length = codePoints(text)
  if (length > longest) return ['too_long', `${name} has at most ${longest} characters, not ${length}.`]
  if (!isStorable(text))
    return ['invalid_characters', `${name} must not contain NUL or half of a surrogate pair.`]
  return null
}

/** The one of these words that a parameter has. */
export function oneOf<T extends string>(query: Query, name: string, words: readonly T[]): T | null {
  const { problems } = query
  const text = single(query, name)
  const word = words.find(known => known === text) ?? null
  if (text !== null && word === null) {
    const quoted = words.map(known => `"${known}"`)
    const any = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ')
    addProblem(problems, name, 'invalid_value', `${name} must be ${any}.`)
  }
  return word
}

/** The day that a parameter names: YYYY-MM-DD. */
export function dayOf(query: Query, name: string): string | null {
  const { problems } = query
  const text = single(query, name)
  const day = text === null ? null : isoDate(text)
  if (text !== null && day === null)
    addProblem(problems, name, 'invalid_value', `${name} must be a day such as 2026-06-30.`)
  return day
}

/** The first and the last day of a period, each in a parameter of its own; null: it has no such end. */
export function periodOf(query: Query, first: string, last: string): [string | null, string | null] {
  const [from, to] = [dayOf(query, first), dayOf(query, last)]
  if (from !== null && to !== null && from > to)
    addProblem(query.problems, last, 'contradiction', `${last} must not be before ${first}.`)
  return [from, to]
}

/**
 * The number in a parameter or its alias. It is never clamped (D27): a clamped page would end a sync loop
 * early.
 */
export function wholeNumber(
  { parameters, problems }: Query,
  names: readonly string[],
  fallback: number,
  max: number,
): number {
  const values = names.flatMap(name => parameters.get(name) ?? [])
  const sent = names.filter(name => parameters.has(name))
  const parameter = sent[0]!
  if (values.length === 0) return fallback
  const value = Number(values[0])
  if (new Set(values).size > 1) {
    const given = sent.length === 1 ? `${sent[0]} is given with` : `${sent.join(' and ')} have`
    addProblem(problems, parameter, 'contradiction', `${given} different values.`)
  } else if (!/^\d{1,16}$/.test(values[0]!) || value < 1 || value > max) {
    const limit = max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''
    addProblem(problems, parameter, 'invalid_value', `${parameter} must be a whole number from 1${limit}.`)
  } else return value
  return fallback
}

/**
 * The tree of a parameter's text, by `parse`, which throws FilterError. Null after a problem, and for an
 * empty text. `translate`: a hint for a text in the form of another system.
 */
export function treeOf<T>(
  text: string,
  parameter: string,
  parse: (text: string) => T,
  { problems }: Query,
  translate: () => string | null = () => null,
): T | null {
  if (text.trim() === '') return null
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { message, hint, operator } = error
    const position = error.position + 1
    const all = `The operators: ${operators.join(', ')}.`
    addProblem(problems, parameter, 'syntax', `${message} (at position ${position} of ${parameter}).`, {
      position,
      hint:
        operator === undefined
          ? () => translate() ?? hint ?? ''
          : () => suggestion(ourOperator(operator) ?? operator, operators, all),
    })
    return null
  }
}
