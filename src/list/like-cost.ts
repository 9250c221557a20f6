/**
 * Limits how much text all `like`s of a request look for (D112). A `like` is compared with a record's text at
 * every letter, which at worst takes the product of the two lengths. Knows no grammar and no SQL.
 */
import { type Problems, parameterProblem } from '../errors.ts'
import { codePoints } from '../fields/code-points.ts'
import type { Plan } from './resolve.ts'

/** Characters in all. */
const mostOfRequest = 10_000

/** Adds a problem when the `like`s of a filter together look for too much. */
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
