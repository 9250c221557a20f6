/** Reads the parameters of requests: from the URL, and from a body that has parameters (D32). */
import { type Problem, parameterProblem, Refusal } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { isObject, isRawNumber, type Json, pointerStep, type RawNumber } from '../json.ts'
import { foreignParameterHint } from '../lists/foreign-parameters.ts'
import {
  beginQuery,
  type Parameters,
  refuseManyParameters,
  throwProblems,
  unreadable,
} from '../lists/parameters.ts'
import { dryRun } from './openapi/operation.ts'
import type { ApiRequest } from './request.ts'
import type { Handler, Route } from './route.ts'

export function invalidParameter(parameter: string, message: string): Refusal {
  const problem = parameterProblem(parameter, 'invalid_value', message)
  return new Refusal('malformed_query', 'The query could not be read.', [problem])
}

/** The values of the parameters. Unknown, repeated and missing parameters are refused together. */
export function readParameters(
  query: Parameters,
  known: readonly string[],
  required: readonly string[],
): { [name: string]: string | undefined } {
  const unknown = [...query.keys()]
    .filter(name => !known.includes(name))
    .map(name => unknownProblem(name, known))
  const wrong = known.flatMap(name => {
    const values = query.get(name) ?? []
    if (values.length > 1) return [parameterProblem(name, 'contradiction', `${name} may be given only once.`)]
    return required.includes(name) && !values[0]
      ? [parameterProblem(name, 'required', `${name} must be given.`)]
      : []
  })
  const problems = [...unknown, ...wrong]
  if (unknown.length) throw new Refusal('unknown_parameter', 'The query has unknown parameters.', problems)
  if (wrong.length) throw new Refusal('malformed_query', 'The query could not be read.', problems)
  return Object.fromEntries(known.map(name => [name, query.get(name)?.[0]]))
}

function unknownProblem(name: string, known: readonly string[]): Problem {
  const others = known.length ? `The parameters: ${known.join(', ')}.` : 'This request takes none.'
  return parameterProblem(name, 'unknown_parameter', `There is no parameter "${name}". ${others}`)
}

/** The route, which refuses every parameter if its operation names none but that of a dry run. */
export function refusingParameters(route: Route): Route {
  if (route.scope === 'public') return route
  const { handler, operation } = route
  const { parameters = [] } = operation
  if (parameters.some(name => name !== dryRun)) return route
  const refused = async (request: ApiRequest) => {
    const sent = [...request.query].filter(([name]) => !parameters.includes(name))
    readParameters(new Map(sent), parameters.length ? [dryRun] : [], [])
    return handler(request)
  }
  return { ...route, handler: refused }
}

/**
 * The query of a URL. Repeated names keep the order of their values. Throws `malformed_query` for escaped
 * bytes that are no UTF-8 (D59), for which URLSearchParams has a character of its own.
 */
export function parseQueryString(url: string): Parameters {
  const start = url.indexOf('?')
  const query = new Map<string, string[]>()
  if (start < 0) return query
  const text = url.slice(start + 1)
  refuseOtherThanUtf8(text)
  for (const [name, value] of new URLSearchParams(text)) {
    const values = query.get(name)
    if (values) values.push(value)
    else query.set(name, [value])
  }
  return query
}

/** Checks runs of escapes: what is between them is ASCII. A bare % stays what it is. */
function refuseOtherThanUtf8(text: string): void {
  if (!/%[89a-f]/i.test(text)) return
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  for (const pair of text.split('&'))
    for (const [run] of pair.matchAll(/(?:%[\da-f]{2})+/gi))
      try {
        utf8.decode(Buffer.from(run.replaceAll('%', ''), 'hex'))
      } catch {
        const [name = ''] = new URLSearchParams(pair).keys()
        throw invalidParameter(name, `${name} must be UTF-8, and %C3%A9 for é.`)
      }
}

/**
 * The parameters of the URL and of a JSON body (D32). In the body, null means absent for `known` names,
 * numbers and booleans become text, an array of filters becomes several filters, and any other array its
 * values separated by commas. An empty body has none. Throws `malformed_query` for values that are no text,
 * and lists unknown parameters with them.
 */
export function parametersOf(
  { query, body }: ApiRequest,
  known: readonly string[],
  schema: ResourceSchema,
): Parameters {
  if (body !== undefined && !isObject(body))
    throw new Refusal('malformed_json', 'The body must be a JSON object of parameters.')
  const members = Object.entries(body ?? {})
  refuseManyParameters(members.length)
  const parameters = new Map(query)
  const wrong: string[] = []
  for (const [name, value] of members) {
    const isKnown = known.includes(name)
    if (value === null && isKnown) continue
    const items = Array.isArray(value) ? value : [value]
    if (isKnown && !items.every(isText)) wrong.push(name)
    const texts = items.map(item => (isText(item) ? textOf(item) : JSON.stringify(item).slice(0, shownMax)))
    const joined = name === 'filter' ? texts : [texts.join(',')]
    parameters.set(name, [...(parameters.get(name) ?? []), ...joined])
  }
  if (wrong.length) refuseWrong(wrong, parameters, known, schema)
  return parameters
}

/** Adds the path in the body to problems of parameters that the body has (D32). */
export function withPaths(handler: Handler): Handler {
  return async request => {
    try {
      return await handler(request)
    } catch (error) {
      const { body } = request
      if (!(error instanceof Refusal) || !isObject(body ?? null)) throw error
      const problems = error.problems.map(problem =>
        problem.path === '' && Object.hasOwn(body as object, `${problem.parameter}`)
          ? { ...problem, path: `/${pointerStep(`${problem.parameter}`)}` }
          : problem,
      )
      throw new Refusal(error.slug, error.message, problems, error.headers)
    }
  }
}

/** Maximum length of an invalid parameter in a message. */
const shownMax = 1000

function isText(value: Json): value is string | number | boolean | RawNumber {
  return ['string', 'number', 'boolean'].includes(typeof value) || isRawNumber(value)
}

function textOf(value: string | number | boolean | RawNumber): string {
  return isRawNumber(value) ? value.rawJSON : String(value)
}

function refuseWrong(
  names: readonly string[],
  parameters: Parameters,
  known: readonly string[],
  schema: ResourceSchema,
): void {
  const { problems } = beginQuery(parameters, known, foreignParameterHint(schema, known))
  for (const name of names) {
    const message = `${name} must be a text or a number.`
    problems.add(() => ({ ...parameterProblem(name, 'wrong_type', message), path: `/${name}` }))
  }
  throwProblems(problems, unreadable)
}
