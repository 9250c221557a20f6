/** The limits of a field as they are typed. Pure. */
import { numberIn } from '../number-input.ts'

/** The limits that differ from what they were, as they are sent: null takes one away. */
export function changedLimits(
  before: { readonly [limit: string]: number | undefined },
  after: { readonly [limit: string]: string },
) {
  const changes: { [limit: string]: number | string | null } = {}
  for (const [name, typed] of Object.entries(after)) {
    const was = before[name]
    const text = typed.trim()
    if (text === String(was ?? '')) continue
    changes[name] = numberIn(text)
  }
  return changes
}
