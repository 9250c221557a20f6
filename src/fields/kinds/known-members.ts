/** What every kind of object asks first: whether its members are known. */
import type { Json } from '../../json.ts'
import type { Place } from '../field.ts'
import { nearest } from '../nearest.ts'

/** False after a problem: a member that the object does not have. */
export function knownMembers(input: { [name: string]: Json }, known: readonly string[], place: Place, at = ''): boolean {
  const unknown = Object.keys(input).filter(name => !known.includes(name))
  for (const name of unknown) {
    const near = nearest(name, known)
    place.problem('unknown_field', `has no member "${name}"`, {
      at: `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      hint: near ? `Did you mean "${near}"?` : `It has: ${known.join(', ')}.`,
    })
  }
  return unknown.length === 0
}
