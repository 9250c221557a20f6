/** Reads the parameters of requests that take only a few. */
import { parameterProblem, Refusal } from '../errors.ts'
import type { Parameters } from '../list/parameters.ts'

/** The refusal of a parameter's value. */
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
  const unknown = [...query.keys()].filter(name => !known.includes(name))
  if (unknown.length) {
    const others = known.length ? `The parameters: ${known.join(', ')}.` : 'This request takes none.'
    const problems = unknown.map(name =>
      parameterProblem(name, 'unknown_parameter', `There is no parameter "${name}". ${others}`),
    )
    throw new Refusal('unknown_parameter', 'The query has unknown parameters.', problems)
  }
  const problems = known.flatMap(name => {
    const values = query.get(name) ?? []
    if (values.length > 1) return [parameterProblem(name, 'contradiction', `${name} may be given only once.`)]
    return required.includes(name) && !values[0]
      ? [parameterProblem(name, 'required', `${name} must be given.`)]
      : []
  })
  if (problems.length) throw new Refusal('malformed_query', 'The query could not be read.', problems)
  return Object.fromEntries(known.map(name => [name, query.get(name)?.[0]]))
}
