/**
 * The parameters of lists, of sums and of single records, as texts: their limits, and how to read one. Knows
 * no field.
 */
import { type Hint, Problems, parameterProblem, Refusal } from '../errors.ts'
import { suggestion } from '../fields/nearest.ts'
import { GrammarError } from './grammar.ts'

/** Parameter name → its values, in the order of the query. */
export type Parameters = ReadonlyMap<string, readonly string[]>

/**
 * Maximum number of parameters of a request, and of their characters. They allow 5000 values of 25 digits
 * (D30).
 */
const parametersMax = 100
const textMax = 131_072
export const unreadable = 'The list query could not be read.'
const mostCharacters = `A list query has at most ${textMax} characters.`
const askLess = 'Ask in several requests.'
/** Maximum bytes of a query: a character has at most four in UTF-8. A larger query is not read at all. */
export const queryBytesMax: number = 4 * textMax

export function throwProblems(problems: Problems, detail: string): void {
  if (problems.count === 0) return
  const isUnknown = problems.kept.every(({ code }) => code === 'unknown_parameter')
  throw new Refusal(isUnknown ? 'unknown_parameter' : 'malformed_query', detail, problems)
}

export function addProblem(
  problems: Problems,
  parameter: string,
  code: string,
  message: string,
  { hint, field = null, ...more }: { hint?: Hint | undefined; field?: string | null; position?: number } = {},
): void {
  problems.add(() => ({ ...parameterProblem(parameter, code, message), field, ...more }), hint)
}

/** The refusal of a query with more than `queryBytesMax` bytes. */
export function queryTooLarge(): Refusal {
  const problems = new Problems()
  addProblem(problems, '', 'too_long', mostCharacters, { hint: askLess })
  return new Refusal('malformed_query', unreadable, problems)
}

/** Refuses too many or too long parameters, with one problem, before anything is parsed. */
function refuseExcess(parameters: Parameters): void {
  const texts = [...parameters.values()].flat()
  refuseManyParameters(Math.max(parameters.size, texts.length))
  const length = [...parameters.keys(), ...texts].reduce((sum, text) => sum + text.length, 0)
  if (length <= textMax) return
  const problems = new Problems()
  addProblem(problems, '', 'too_long', `${mostCharacters.slice(0, -1)}, not ${length}.`, { hint: askLess })
  throwProblems(problems, unreadable)
}

/** Refuses a list query of `count` parameters, if that is too many: counting takes no time, reading does. */
export function refuseManyParameters(count: number): void {
  if (count <= parametersMax) return
  const problems = new Problems()
  const most = `A list query has at most ${parametersMax} parameters, each filter counted.`
  addProblem(problems, '', 'too_many', most, { hint: askLess })
  throwProblems(problems, unreadable)
}

/** `saidElsewhere`: returns a hint for another system's parameter, or null. */
export function unknownParameters(
  parameters: Parameters,
  known: readonly string[],
  saidElsewhere: (name: string, parameters: Parameters) => string | null = () => null,
): Problems {
  refuseExcess(parameters)
  const problems = new Problems()
  for (const name of parameters.keys()) {
    if (known.includes(name)) continue
    const usual = () => suggestion(name, known, `The parameters: ${known.join(', ')}.`)
    const hint = () => saidElsewhere(name, parameters) ?? usual()
    addProblem(problems, name, 'unknown_parameter', `There is no parameter "${name}".`, { hint })
  }
  return problems
}

/**
 * The number in a parameter or its alias. It is never clamped (D27): a clamped page would end a sync loop
 * early.
 */
export function wholeNumber(
  parameters: Parameters,
  names: readonly string[],
  fallback: number,
  max: number,
  problems: Problems,
): number {
  const values = names.flatMap(name => parameters.get(name) ?? [])
  const parameter = names[0]!
  if (values.length === 0) return fallback
  const value = Number(values[0])
  if (new Set(values).size > 1) {
    const sent = names.filter(name => parameters.has(name))
    const given = sent.length === 1 ? `${sent[0]} is given with` : `${sent.join(' and ')} have`
    addProblem(problems, parameter, 'contradiction', `${given} different values.`)
  } else if (!/^\d{1,16}$/.test(values[0]!) || value < 1 || value > max) {
    const limit = max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''
    addProblem(problems, parameter, 'invalid_value', `${parameter} must be a whole number from 1${limit}.`)
  } else return value
  return fallback
}

export function single(parameters: Parameters, name: string, problems: Problems): string | null {
  const values = parameters.get(name) ?? []
  if (values.length > 1) addProblem(problems, name, 'contradiction', `${name} may be given only once.`)
  return values[0] || null
}

export function oneOf<T extends string>(
  parameters: Parameters,
  name: string,
  words: readonly T[],
  problems: Problems,
): T | null {
  const text = single(parameters, name, problems)
  const word = words.find(known => known === text) ?? null
  if (text !== null && word === null)
    addProblem(problems, name, 'invalid_value', `${name} must be ${oneOfWords(words)}.`)
  return word
}

/** "exact", "estimate" or "none" */
function oneOfWords(words: readonly string[]): string {
  const quoted = words.map(word => `"${word}"`)
  return [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ')
}

export function parsed<T>(
  text: string,
  parameter: string,
  parse: (text: string) => T,
  problems: Problems,
  meant: () => string | null = () => null,
): T | null {
  if (text.trim() === '') return null
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    const { message, hint } = error
    const position = error.position + 1
    addProblem(problems, parameter, 'syntax', `${message} (at position ${position} of ${parameter}).`, {
      position,
      // A computed hint fits the text at the position; a fixed one is general.
      hint: typeof hint === 'function' ? hint : () => meant() ?? hint ?? '',
    })
    return null
  }
}
