/** Deals whose days stay the same while a test compares what was read at two moments. */
import type { Reader } from '../../src/records/store.ts'

/**
 * The sample's activities were done at a quarter of an hour, and from then on the days of deals are counted:
 * as of twelve hours ago, the next day is as far away.
 */
export async function keepDaysSteady(db: Reader): Promise<void> {
  await db.query(
    "UPDATE deal SET last_done_at = date_bin('1 day', last_done_at, now() - interval '12 hours')",
  )
}
