/** Marks items of an inbox as read, unread or snoozed (D156). */
import { type Caller, callerParamsOf } from '../rights/visibility.ts'
import { arrayLiteral, ask, sql } from '../sql.ts'
import type { Follower } from './follow.ts'
import { isNow, settingsWithNews } from './inbox.ts'
import { itemsSql } from './items.ts'
import { shownKinds } from './kinds.ts'

/** The new state of items. */
export type Mark = { readonly to: 'read' | 'unread' } | { readonly to: 'snoozed'; readonly minutes: number }

/**
 * Marks items of the caller: those of these ids, or all until a moment. Others are left alone, such as those
 * that are gone. Returns how many were marked. The days of a state count from its first mark, not from when
 * the item was due.
 */
export async function markItems(
  db: Follower,
  caller: Caller,
  which: { readonly ids: readonly string[] } | { readonly until: string },
  mark: Mark,
): Promise<number> {
  const kinds = shownKinds(await settingsWithNews(db, caller))
  const former = mark.to === 'read' ? sql`NULL` : sql`NOT NULL`
  const among =
    'ids' in which
      ? sql`i.id = ANY(${arrayLiteral(which.ids)}::text[])`
      : sql`i.at <= ${which.until}::timestamptz AND i.read_at IS ${former}`
  const isMarkable = mark.to === 'snoozed' ? sql`i.kind = 'due'` : isNow
  const items = itemsSql(caller, { kinds, where: sql`${among} AND ${isMarkable}`, limit: null })
  if (!items) return 0
  const { account, actor } = callerParamsOf(caller)
  const readAt = mark.to === 'read' ? sql`now()` : sql`NULL::timestamptz`
  const until =
    mark.to === 'snoozed' ? sql`now() + make_interval(mins => ${sql.integer(mark.minutes)})` : null
  const statement = sql`INSERT INTO notification AS n (account_id, user_id, id, kind, resource, record_id,
    at, read_at, snoozed_until)
SELECT ${account}::bigint, ${actor}::bigint, i.id, i.kind, i.resource, i.record_id, now(), ${readAt}, ${until ?? sql`NULL::timestamptz`}
FROM (${items}) i
ON CONFLICT (account_id, user_id, id) DO UPDATE SET read_at = EXCLUDED.read_at,
  snoozed_until = ${until ? sql`EXCLUDED.snoozed_until` : sql`n.snoozed_until`}
RETURNING 1 AS one`
  const rows = await ask(db, statement)
  return rows.length
}
