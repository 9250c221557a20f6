/** The first check of every kind that takes an object: whether the members are known. */
import { type Json, pointerStep } from '../../json.ts'
import type { ParseContext } from '../field.ts'
import { suggestion } from '../nearest.ts'

/** False after a problem: an unknown member. */
export function knownMembers(
  input: { [name: string]: Json },
  known: readonly string[],
  context: ParseContext,
  at = '',
): boolean {
  const unknown = Object.keys(input).filter(name => !known.includes(name))
  for (const name of unknown) {
    context.problem('unknown_field', 'is not a known member', {
      at: `${at}/${pointerStep(name)}`,
      hint: () => suggestion(name, known, `It has: ${known.join(', ')}.`),
    })
  }
  return unknown.length === 0
}
