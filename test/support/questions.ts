/**
 * How much the laws ask, and by which seed. `npm test` asks a tenth, so that it answers in minutes, and
 * `npm run check` everything (LAWS_SHARE). test/run.ts prints the seed; LAWS_SEED asks the same again.
 */

import { random } from './generated.ts'

/** from 0 to 1 */
const share = Number(process.env.LAWS_SHARE ?? 1)

export const seed = Number(process.env.LAWS_SEED ?? Date.now() % 2 ** 31)

/** The share of a law's questions, or of what has to come out when it asks all of them; at least one. */
export function shareOf(count: number): number {
  return Math.max(1, Math.round(count * share))
}

const next = random(seed)

/** Why what needs all questions is skipped. */
export const tooFew: string | false = share < 1 && 'npm run check asks the other questions'

/** That share of them, any of them; at least one. */
export function someOf<T>(all: readonly T[]): T[] {
  const some = all.filter(() => next() < share)
  return some.length > 0 ? some : all.slice(0, 1)
}
