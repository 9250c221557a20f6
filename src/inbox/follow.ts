/**
 * Follows the events of an account for the inboxes of its people (D156): mentions, and records that another
 * person assigned to them. One transaction advances the position and inserts the items. So each event makes
 * its items exactly once, also with several processes and after an interruption.
 */
import type { Database } from '../db/open.ts'
import { mentionPattern } from '../records/mentions.ts'
import type { Reader } from '../records/store.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'

/** Reads, and stores what it has read in a transaction. */
export type Follower = Pick<Database, 'query' | 'transaction'>

/** Maximum of events that one statement looks at. */
const atOnce = 5000
/** Retention: maximum number of items per person, and of days. */
export const itemsMax = 10_000
const daysMax = 180

/** FROM items of an account's newest event, and of how far its inboxes are; with a column of these. */
export const progress = sql`counter c LEFT JOIN inbox_progress p ON p.account_id = c.account_id`
export const isBehind = sql`(c.last_seq > coalesce(p.seq, 0))::text AS is_behind`

/**
 * Looks at the account's new events, and removes what inboxes no longer keep. One statement, which takes no
 * lock, where there is neither.
 */
export async function keepInboxes(db: Follower, account: number): Promise<void> {
  const own = param(String(account))
  const statement = sql`SELECT ${isBehind},
  (EXISTS (SELECT 1 FROM notification n WHERE n.account_id = ${own}::bigint AND ${isOld(sql`n`)}) OR EXISTS (
    SELECT 1 FROM notification n WHERE n.account_id = ${own}::bigint
    GROUP BY n.user_id HAVING count(*) > ${sql.integer(itemsMax)}))::text AS is_full
FROM ${progress} WHERE c.account_id = ${own}::bigint`
  const [row] = await ask(db, statement)
  if (row?.is_behind === 'true') await followEvents(db, account)
  if (row?.is_full === 'true') await forgetOldItems(db, account)
}

function isOld(n: Sql): Sql {
  return sql`${n}.at < now() - make_interval(days => ${sql.integer(daysMax)})`
}

/** Looks at the account's events up to the newest one. */
export async function followEvents(db: Follower, account: number): Promise<void> {
  const own = param(String(account))
  const statement = sql`INSERT INTO inbox_progress (account_id, seq) VALUES (${own}::bigint, 0)
    ON CONFLICT DO NOTHING`
  await ask(db, statement)
  for (let isBehind = true; isBehind; ) {
    const [news] = await ask(db, newsSql(own))
    isBehind = news?.is_behind === 'true'
    // Another process may have come further meanwhile: what it has not looked at is looked at then.
    if (news && news.after !== news.upto) isBehind = !(await advance(db, account, news)) || isBehind
  }
}

type News = Awaited<ReturnType<Reader['query']>>[number]

/**
 * Stores the items, and moves the position if it is still where they were read. The rows are parameters:
 * Citus sends locked or changed rows that an INSERT in a WITH reads to every node, also to one that is away
 * (D178).
 */
async function advance(db: Follower, account: number, { after, upto, items }: News): Promise<boolean> {
  const own = param(String(account))
  const moved = sql`UPDATE inbox_progress p SET seq = ${upto!}::bigint
WHERE p.account_id = ${own}::bigint AND p.seq = ${after!}::bigint RETURNING 1 AS one`
  if (!items) return (await ask(db, moved)).length > 0
  return db.transaction({ account: String(account) }, async tx => {
    const isMoved = (await ask(tx, moved)).length > 0
    if (isMoved) await ask(tx, noteSql(own, items))
    return { commits: true, result: isMoved }
  })
}

async function forgetOldItems(db: Reader, account: number): Promise<void> {
  const own = param(String(account))
  const statement = sql`DELETE FROM notification n WHERE n.account_id = ${own}::bigint AND (
  ${isOld(sql`n`)}
  OR (n.user_id, n.id) IN (
    SELECT x.user_id, x.id FROM (
      SELECT y.user_id, y.id, row_number() OVER (PARTITION BY y.user_id ORDER BY y.at DESC, y.id DESC) AS place
      FROM notification y WHERE y.account_id = ${own}::bigint) x
    WHERE x.place > ${sql.integer(itemsMax)}))`
  await ask(db, statement)
}

/** SELECT of the position, how far the next events reach, and their items as JSON; null: none. */
function newsSql(own: Param): Sql {
  return sql`
WITH reach AS MATERIALIZED (
  SELECT p.seq AS after, c.last_seq, greatest(p.seq, least(p.seq + ${sql.integer(atOnce)}, c.last_seq)) AS upto
  FROM inbox_progress p, counter c WHERE p.account_id = ${own}::bigint AND c.account_id = ${own}::bigint
),
batch AS MATERIALIZED (
  SELECT e.seq, e.type, e.resource, e.record_id, e.actor, e.at, e.job, e.changes
  FROM reach, event e
  WHERE e.account_id = ${own}::bigint AND e.seq > reach.after AND e.seq <= reach.upto AND e.actor <> 0
    AND e.type IN ('activity.created', 'activity.updated', 'deal.created', 'deal.updated')
    AND e.changes ?| ARRAY['notes', 'owner', 'sales_owner']
),
found AS (
  SELECT 'mention' AS kind, m.user_id, e.* FROM batch e CROSS JOIN LATERAL (
    ${mentioned(sql`e.changes #>> '{notes,after}'`)} EXCEPT ${mentioned(sql`e.changes #>> '{notes,before}'`)}) m
  WHERE e.resource = 'activity'
  UNION ALL
  SELECT 'assignment', (e.changes #>> '{sales_owner,after}')::bigint, e.* FROM batch e WHERE e.resource = 'deal'
  UNION ALL
  SELECT 'assignment', (e.changes #>> '{owner,after}')::bigint, e.* FROM batch e
  WHERE e.resource = 'activity' AND e.changes #>> '{done_at,after}' IS NULL AND NOT EXISTS (
    SELECT 1 FROM activity a WHERE a.account_id = ${own}::bigint AND a.id = e.record_id AND a.done_at IS NOT NULL)
),
told AS (
  SELECT f.user_id, concat_ws('-', f.kind, CASE WHEN f.job IS NOT NULL THEN concat('job-', f.job, '-', f.resource)
      ELSE f.seq::text END) AS id, f.kind, f.resource, f.actor, f.record_id, f.at
  FROM found f JOIN "user" u ON u.account_id = ${own}::bigint AND u.id = f.user_id AND u.deleted_at IS NULL
  WHERE f.user_id <> f.actor
),
noted AS (
  SELECT t.user_id, t.id, t.kind, t.resource, min(t.record_id) AS record_id, min(t.actor) AS actor,
    count(*) AS count, max(t.at) AS at
  FROM told t GROUP BY t.user_id, t.id, t.kind, t.resource
)
SELECT reach.after::text AS after, reach.upto::text AS upto,
  (reach.upto < reach.last_seq)::text AS is_behind,
  (SELECT jsonb_agg(to_jsonb(n)) FROM noted n)::text AS items
FROM reach`
}

/** INSERT of items as JSON. */
function noteSql(own: Param, items: string): Sql {
  return sql`
INSERT INTO notification AS n (account_id, user_id, id, kind, resource, record_id, actor, count, at)
SELECT ${own}::bigint, i.user_id, i.id, i.kind, i.resource, i.record_id, i.actor, i.count, i.at
FROM jsonb_to_recordset(${items}::jsonb) i (user_id bigint, id text, kind text, resource text,
  record_id bigint, actor bigint, count int, at timestamptz)
ON CONFLICT (account_id, user_id, id) DO UPDATE
  SET count = n.count + EXCLUDED.count, at = EXCLUDED.at, read_at = NULL
  WHERE strpos(n.id, '-job-') > 0`
}

/** SELECT of the users whom a text mentions. */
function mentioned(text: Sql): Sql {
  return sql`SELECT (regexp_matches(${text}, ${mentionPattern}::text, 'g'))[1]::bigint AS user_id`
}
