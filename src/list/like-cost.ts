/**
 * What the `like`s of a request may cost together (D112). A database compares the text with a record's from
 * each letter of that, which at worst takes the product of their lengths, and has to fold the record's first.
 * Knows no grammar and no SQL.
 */
import type { Problems } from '../errors.ts'
import { codePoints } from '../fields/code-points.ts'
import type { Plan } from './resolve.ts'

/** In characters. */
const mostOfRequest = 1000
const leastOfOne = 20
const timesInLongTexts = 10

/** Adds a problem where they cost more than one request may. */
export function refuseCostlyLikes(plan: Plan, problems: Problems): void {
  const cost = costOf(plan)
  if (cost <= mostOfRequest) return
  const message = `like looks for ${cost} characters in all, ${mostOfRequest} are taken.`
  const hint =
    'Each text counts as 20 characters at least, and tenfold in long texts. Ask in several requests.'
  problems.add(() => ({ field: null, path: '', parameter: 'filter', code: 'too_long', message }), hint)
}

function costOf(plan: Plan): number {
  if (plan.type === 'not') return costOf(plan.of)
  if (plan.type !== 'condition') return plan.of.reduce((sum, inner) => sum + costOf(inner), 0)
  if (plan.operator !== 'like') return 0
  const length = plan.values.reduce((sum, text) => sum + codePoints(text), 0)
  return Math.max(length, leastOfOne) * (plan.term.isLong ? timesInLongTexts : 1)
}
