/**
 * The number of the laws' questions, and their seed. `npm test` asks a tenth, so that it ends in minutes, and
 * `npm run check` everything (LAWS_SHARE). test/run.ts prints the seed; LAWS_SEED repeats the questions.
 */
import { random } from './generated.ts'

/** from 0 to 1 */
const share = Number(process.env.LAWS_SHARE ?? 1)

export const seed = Number(process.env.LAWS_SEED ?? Date.now() % 2 ** 31)

/** The share of a law's questions, or of the expected count; at least one. */
export function shareOf(count: number): number {
  return Math.max(1, Math.round(count * share))
}

const next = random(seed)

/** Reason to skip a test that needs all questions. */
export const tooFew: string | false = share < 1 && 'npm run check asks the other questions'

/** A random sample of that share; at least one. */
export function someOf<T>(all: readonly T[]): T[] {
  const some = all.filter(() => next() < share)
  return some.length > 0 ? some : all.slice(0, 1)
}
