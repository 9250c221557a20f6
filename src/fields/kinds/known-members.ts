/** What every kind that takes an object looks for among its members: unknown ones and read-only ones. */
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

/** What is said of a member that is only read. */
export const readOnlyMember = 'The member is read-only; what was sent is ignored'

/** Warns of a member that is only read and was sent with another value than it has (D4). */
export function warnOfReadOnly(context: ParseContext, at: string): void {
  context.warn('read_only', readOnlyMember, at)
}
