/** Marks items of an inbox as read, unread or snoozed (D156). */
import type { Reader } from '../records/store.ts'
import { type Caller, callerParamsOf } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import { type Follower, itemsMax } from './follow.ts'
import { isNow, settingsWithNews } from './inbox.ts'
import { isOneOf, itemsSql } from './items.ts'
import { shownKinds } from './kinds.ts'

/** The new state of items. */
export type Mark = { readonly to: 'read' | 'unread' } | { readonly to: 'snoozed'; readonly minutes: number }

/** Maximum of items that are marked outside of a transaction: others wait for a longer statement. */
export const idsMax = 500

/**
 * Marks items of the caller: those of these ids, or all until a moment, the newest that an inbox keeps.
 * Others are left alone, such as those that are gone. Returns how many were marked. The days of a state count
 * from its first mark, not from when the item was due. `reader` reads what may be long.
 */
export async function markItems(
  db: Follower,
  reader: Reader,
  caller: Caller,
  which: { readonly ids: readonly string[] } | { readonly until: string },
  mark: Mark,
): Promise<number> {
  const kinds = shownKinds(await settingsWithNews(db, caller))
  const isMarkable = mark.to === 'snoozed' ? sql`i.kind = 'due'` : isNow
  if ('ids' in which) {
    const where = sql`${isOneOf(which.ids)} AND ${isMarkable}`
    const items = itemsSql(caller, { kinds, where, limit: null })
    return items ? store(db, caller, items, mark) : 0
  }
  const isOther = mark.to === 'read' ? sql`i.read_at IS NULL` : sql`i.read_at IS NOT NULL`
  const where = sql`i.at <= ${which.until}::timestamptz AND ${isOther} AND ${isMarkable}`
  const items = itemsSql(caller, { kinds, where, limit: { newest: itemsMax } })
  if (!items) return 0
  const [found] = await ask(
    reader,
    sql`SELECT count(*)::text AS count, json_agg(json_build_object('id', i.id, 'kind', i.kind,
    'resource', i.resource, 'record_id', i.record_id))::text AS items FROM (${items}) i`,
    true,
  )
  if (!found!.items) return 0
  const read = sql`SELECT * FROM jsonb_to_recordset(${found!.items}::jsonb) i (id text, kind text,
    resource text, record_id bigint)`
  if (Number(found!.count) <= idsMax) return store(db, caller, read, mark)
  const turn = { account: String(caller.catalog.account.id) }
  return db.transaction(turn, async tx => ({ commits: true, result: await store(tx, caller, read, mark) }))
}

/** Stores the state of these items; returns their number. */
async function store(db: Reader, caller: Caller, items: Sql, mark: Mark): Promise<number> {
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
  return (await ask(db, statement)).length
}
