/** Deals whose days stay the same while a test compares two reads. */
import type { Reader } from '../../src/records/store.ts'

/**
 * The days of a deal are counted from moments of the sample. Deals are created and moved in the ten hours
 * before the first start, so those days stay the same for hours. Activities were done at a quarter of an
 * hour: moves each to an hour of its calendar day from which the next day is five hours or more away.
 */
export async function keepDaysSteady(db: Reader): Promise<void> {
  await db.query(
    `UPDATE deal d SET last_done_at = (d.last_activity_date
       + CASE WHEN extract(hour FROM now() AT TIME ZONE a.time_zone) BETWEEN 6 AND 17 THEN time '00:30'
         ELSE time '12:30' END) AT TIME ZONE a.time_zone
     FROM account a WHERE a.account_id = d.account_id`,
  )
}
