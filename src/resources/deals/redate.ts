/**
 * Updates the dates of deals' last and next activities after a change of the account's time zone (D73): the
 * moments stay, their calendar dates change. By the backfill of records/backfill.ts.
 */
import type { Catalog } from '../../fields/catalog.ts'
import { backfill } from '../../records/backfill.ts'
import type { Transaction } from '../../records/store.ts'
import { param, type Sql, sql } from '../../sql.ts'

export async function redateDeals(db: Transaction, catalog: Catalog): Promise<void> {
  const { id, time_zone } = catalog.account
  const account = param(String(id))
  const dateOf = (moment: Sql) => sql`(${moment} AT TIME ZONE ${time_zone}::text)::date`
  const last = dateOf(sql`r.last_done_at`)
  // Of a deleted deal, the activities count that were deleted with it, and are restored with it.
  const next = dateOf(sql`(
    SELECT min(a.due_at) FROM activity a
    WHERE a.account_id = ${account}::bigint AND a.deal = r.id AND a.done_at IS NULL
      AND a.deleted_at IS NOT DISTINCT FROM r.deleted_at)`)
  const days = { last_activity_date: last, next_activity_date: next }
  await backfill(db, catalog, {
    table: 'deal',
    values: {
      ...days,
      activities_document: Object.entries(days).reduce(withMember, sql`r.activities_document`),
      activities_moved_at: sql`CASE
        WHEN (r.last_activity_date, r.next_activity_date) IS DISTINCT FROM (${last}, ${next})
        THEN date_trunc('milliseconds', now()) ELSE r.activities_moved_at END`,
    },
    from: [],
    where: sql`(r.last_activity_date IS NOT NULL OR r.next_activity_date IS NOT NULL)`,
  })
}

/** The text of a record with another date. A quoted name is that of a member: in a value it is escaped. */
function withMember(document: Sql, [name, date]: readonly [string, Sql]): Sql {
  const member = sql.text(`"${name}":`)
  const former = `"${name}":("[^"]*"|null)`
  return sql`regexp_replace(${document}, ${former}::text, ${member} || coalesce(to_json(${date})::text, 'null'))`
}
