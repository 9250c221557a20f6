/** The state of a deal's next step. Pure. */

export type NextState = 'none' | 'overdue' | 'today' | 'later'

type Deal = { readonly [field: string]: unknown }

/**
 * Null if the caller's role hides it. `now` is a moment in ISO 8601; `dayOf` the date of a moment in the
 * reader's time zone. A step without a date is a later one.
 */
export function nextStateOf(
  { upcoming_activities: count, next_activity_at: at }: Deal,
  now: string,
  dayOf: (iso: string) => string,
): NextState | null {
  if (typeof count !== 'number' || at === undefined) return null
  if (count === 0) return 'none'
  if (typeof at !== 'string') return 'later'
  if (at < now) return 'overdue'
  return dayOf(at) === dayOf(now) ? 'today' : 'later'
}
