/** The name that a program gives itself, as people may see it: short, and nothing hidden in it. Pure. */

const nameMax = 80
/** Neither letters nor signs that people see. */
const unseen = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu

/** Null if there is none. */
export function programName(given: unknown): string | null {
  if (typeof given !== 'string') return null
  return [...given.replaceAll(unseen, ' ').trim()].slice(0, nameMax).join('') || null
}
