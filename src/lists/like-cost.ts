/**
 * Limits the length of all `like` texts of a request (D112). A `like` is compared at every position of a
 * record's text, which at worst costs the product of the two lengths. Knows no grammar and no SQL.
 */
import { type Problems, parameterProblem } from '../errors.ts'
import { codePoints } from '../fields/code-points.ts'
import type { Plan } from './resolve.ts'

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
