/** Lists and sums of a past day (D74): `as_of`. */
import { asItWas, pastOf } from '../events/as-it-was.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { ListDatabase } from '../list/list.ts'
import type { Viewer } from '../rights/visibility.ts'

/**
 * The database as it was at the end of a day, and that moment; null: as it is. Throws `history_too_short`
 * where there is no history that far, and `malformed_query` for a day that has not come yet.
 */
export async function inPast(
  db: ListDatabase,
  fields: ResourceFields,
  viewer: Viewer,
  day: string | null,
): Promise<{ at: ListDatabase; moment: string | null }> {
  if (day === null) return { at: db, moment: null }
  const past = await pastOf(db, viewer, day)
  return { at: asItWas(db, fields, viewer, past), moment: past.moment }
}
