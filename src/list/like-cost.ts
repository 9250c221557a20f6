/**
 * How much the `like`s of a request may look for together (D112): each text is compared with a record's from
 * each letter of that, which at worst takes the product of their lengths. Knows no grammar and no SQL.
 */
import type { Problems } from '../errors.ts'
import { codePoints } from '../fields/code-points.ts'
import type { Plan } from './resolve.ts'

/** In characters, each way to write an é counted. */
const mostOfRequest = 10_000

/** Adds a problem where they look for more than one request may. */
export function refuseCostlyLikes(plan: Plan, problems: Problems): void {
  const length = lengthOf(plan)
  if (length <= mostOfRequest) return
  const message = `like looks for ${length} characters in all, at most ${mostOfRequest} are taken.`
  const problem = { field: null, path: '', parameter: 'filter', code: 'too_long', message }
  problems.add(() => problem, 'Ask in several requests.')
}

function lengthOf(plan: Plan): number {
  if (plan.type === 'not') return lengthOf(plan.of)
  if (plan.type !== 'condition') return plan.of.reduce((sum, inner) => sum + lengthOf(inner), 0)
  return plan.operator === 'like' ? plan.values.reduce((sum, text) => sum + codePoints(text), 0) : 0
}
