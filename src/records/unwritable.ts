/** Refuses implicit changes of fields that the caller's role may not write (D64). Pure. */
import { Refusal } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'

/**
 * Throws `forbidden` if the role hides or locks one of the fields `names`. `message` says why it matters, as
 * a sentence without its end: locked fields are named there, hidden ones never.
 */
export function refuseUnwritable(
  { byName }: ResourceSchema,
  names: readonly string[],
  message: string,
): void {
  const unwritable = names.map(name => byName.get(name)!).filter(one => one.is_hidden || one.is_read_only)
  if (unwritable.length === 0) return
  const locked = unwritable.flatMap(one => (one.is_hidden ? [] : one.internal_name))
  throw new Refusal('forbidden', `${message}${locked.length ? `: ${locked.join(', ')}` : ''}.`)
}
