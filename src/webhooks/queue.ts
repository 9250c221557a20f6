/**
 * What is to be delivered, in the database (D72): what is due, how attempts ended, and what may go next. A
 * statement of a process that has lost its lease changes nothing.
 */
import { jsonInstant } from '../fields/moment.ts'
import { ask, param, type Sql, sql } from '../sql.ts'
import type { Attempt } from './outgoing.ts'
import { type Held, isHeld, isOf, type QueueDatabase, type Webhook } from './progress.ts'
import { orderMinutes } from './retries.ts'

/** An event that is to be delivered. */
export type ToDeliver = {
  readonly seq: number
  readonly type: string
  readonly resource: string
  readonly record: number
}

/**
 * Notes that the events from `from` to `to` were looked at, and which of them are to be delivered. What was
 * delivered before is delivered again. False where somebody else has come further meanwhile, or a replay
 * begins elsewhere.
 */
export async function enqueue(
  db: QueueDatabase,
  held: Held,
  { from, to }: { readonly from: number; readonly to: number },
  deliveries: readonly ToDeliver[],
  now: Date,
): Promise<boolean> {
  const [at, last] = [param(now.toISOString()), param(String(to))]
  const seen = new Set<string>()
  const given = deliveries.map(one => {
    const record = `${one.resource} ${one.record}`
    const isFirst = !seen.has(record)
    seen.add(record)
    return { ...one, is_first: isFirst }
  })
  const rows = await ask(
    db,
    sql`WITH mine AS (
  SELECT p.seq FROM webhook_progress p
  WHERE ${isHeld(held)} AND p.seq = ${String(from)}::bigint
  FOR UPDATE
), moved AS (
  UPDATE webhook_progress p SET seq = ${last}::bigint FROM mine WHERE ${isOf(held, sql`p`)} RETURNING p.seq
), put AS (
  INSERT INTO webhook_delivery (account_id, webhook, seq, type, resource, record, state, created_at, next_at)
  SELECT ${String(held.account)}::bigint, ${String(held.id)}::bigint, g.seq, g.type, g.resource, g.record,
    'waiting', ${at}::timestamptz, CASE WHEN g.is_first AND NOT b.is_queued
      THEN greatest(${at}::timestamptz, b.free_at) END
  FROM mine, jsonb_to_recordset(${JSON.stringify(given)}::jsonb) g
      (seq bigint, type text, resource text, record bigint, is_first boolean)
    CROSS JOIN LATERAL (
      SELECT coalesce(bool_or(w.first_tried_at IS NULL), false) AS is_queued, ${freeAt(sql`w.first_tried_at`)} AS free_at
      FROM webhook_delivery w
      WHERE ${isOf(held, sql`w`)} AND w.resource = g.resource AND w.record = g.record
        AND w.state = 'waiting') b
  ON CONFLICT (account_id, webhook, seq) DO UPDATE
  SET state = 'waiting', next_at = excluded.next_at, tries = 0, first_tried_at = NULL,
    round = webhook_delivery.round + 1
  WHERE webhook_delivery.state <> 'waiting'
)
SELECT seq::text AS seq FROM moved`,
  )
  return rows.length > 0
}

/** When the next event of a record is sent although earlier ones were tried in vain (null: none was). */
function freeAt(triedAt: Sql): Sql {
  return sql`max(${triedAt}) + make_interval(mins => ${sql.integer(orderMinutes)})`
}

/** A delivery that is due. */
export type Due = ToDeliver & {
  readonly tries: number
  /** how often it was asked for again: what a round has begun ends no later one */
  readonly round: number
}

/** The deliveries that are due, `max` at most, besides those that this process has at hand. */
export async function dueDeliveries(
  db: QueueDatabase,
  held: Held,
  atHand: readonly number[],
  max: number,
  now: Date,
): Promise<Due[]> {
  const rows = await ask(
    db,
    sql`SELECT d.seq::text AS seq, d.type, d.resource, d.record::text AS record, d.tries::text AS tries,
  d.round::text AS round
FROM webhook_delivery d
WHERE ${isOf(held, sql`d`)} AND d.next_at <= ${now.toISOString()}::timestamptz
  AND d.seq <> ALL(${`{${atHand.join()}}`}::bigint[])
ORDER BY d.next_at, d.seq LIMIT ${sql.integer(max)}`,
  )
  return rows.map(({ seq, type, resource, record, tries, round }) => ({
    ...{ seq: Number(seq), type: type!, resource: resource!, record: Number(record) },
    ...{ tries: Number(tries), round: Number(round) },
  }))
}

/** How an attempt ended, and what follows from it. */
export type Outcome = Pick<Due, 'seq' | 'tries' | 'round'> & {
  readonly attempt: Attempt
  readonly at: Date
  readonly state: 'waiting' | 'delivered' | 'dead'
  /** when it is tried again; null: never */
  readonly nextAt: Date | null
}

/** The same where nothing is tried again. */
export function settled(outcome: Outcome): Outcome {
  return outcome.state === 'waiting' ? { ...outcome, state: 'dead', nextAt: null } : outcome
}

/** How the deliveries of a webhook go. */
export type Health = {
  /** since when none has gone well; null: the last one has */
  readonly failingSince: Date | null
  readonly lastError: string | null
  readonly deliveredAt: Date | null
}

/**
 * Writes down how attempts ended, and lets the next event of each record go. That is the first that was not
 * tried: at once where all before it are done, else when it has waited long enough. `health` null: as it was.
 * An outcome that is written down already is left alone, so this can be repeated after a lost answer.
 */
export async function writeDown(
  db: QueueDatabase,
  held: Held,
  outcomes: readonly Outcome[],
  health: Health | null,
  now: Date,
): Promise<void> {
  const mine = sql`SELECT p.webhook FROM webhook_progress p
  WHERE ${isHeld(held)} FOR UPDATE`
  await ask(db, written(held, health ? healthOf(held, health) : mine, outcomes, now))
}

/** The row of a webhook that this process may write, with how it goes. */
function healthOf(held: Held, { failingSince, lastError, deliveredAt }: Health): Sql {
  return sql`UPDATE webhook_progress p
  SET failing_since = ${failingSince?.toISOString() ?? null}::timestamptz, last_error = ${lastError}::text,
    last_delivered_at = coalesce(${deliveredAt?.toISOString() ?? null}::timestamptz, p.last_delivered_at)
  WHERE ${isHeld(held)} RETURNING p.webhook`
}

/** The same of a delivery that was sent without holding the webhook: a test. */
export async function writeDownTest(db: QueueDatabase, webhook: Webhook, outcome: Outcome): Promise<void> {
  await ask(db, written(webhook, sql`SELECT 1 AS one`, [outcome], outcome.at))
}

/**
 * `mine` has a row if this process may write. A table that grew quickly is thought to be empty: so each
 * row is looked up by a list of keys or for one record, never by a join of all that a webhook has.
 */
function written(webhook: Webhook, mine: Sql, outcomes: readonly Outcome[], now: Date): Sql {
  const given = outcomes.map(({ seq, tries, round, attempt, at, state, nextAt }) => ({
    ...{ seq, tries, round, at, state, next_at: nextAt, status: attempt.status, error: attempt.error },
    ...{ duration_ms: attempt.durationMs, answer: attempt.answer },
  }))
  const seqs = param(`{${outcomes.map(({ seq }) => seq).join()}}`)
  const waiting = sql`SELECT x.seq, x.first_tried_at FROM webhook_delivery x
    WHERE ${isOf(webhook, sql`x`)} AND x.resource = r.resource AND x.record = r.record
      AND x.state = 'waiting' AND x.seq <> ALL(${seqs}::bigint[])`
  // What was sent before somebody asked for it again is no answer to that.
  const isOwn = sql`d.round = g.round`
  const own = (value: Sql, kept: Sql) => sql`CASE WHEN ${isOwn} THEN ${value} ELSE ${kept} END`
  return sql`WITH mine AS (${mine}), done AS (
  UPDATE webhook_delivery d SET state = ${own(sql`g.state`, sql`d.state`)},
    next_at = ${own(sql`g.next_at`, sql`d.next_at`)}, tries = ${own(sql`d.tries + 1`, sql`d.tries`)},
    first_tried_at = ${own(sql`coalesce(d.first_tried_at, g.at)`, sql`d.first_tried_at`)},
    status = g.status, error = g.error,
    duration_ms = g.duration_ms, answer = g.answer, attempts = d.attempts + 1,
    log = jsonb_path_query_array(d.log, '$[last - 18 to last]') || jsonb_build_array(g.entry)
  FROM mine, (
    SELECT x.*, jsonb_build_object('at', ${jsonInstant(sql`x.at`)}::jsonb, 'status', x.status, 'error', x.error,
      'duration_ms', x.duration_ms) AS entry
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) x (seq bigint, tries int, round int, at timestamptz,
      state text, next_at timestamptz, status int, error text, duration_ms int, answer text)) g
  WHERE ${isOf(webhook, sql`d`)} AND d.seq = ANY(${seqs}::bigint[]) AND d.seq = g.seq
    AND CASE WHEN ${isOwn} THEN d.tries = g.tries ELSE d.log -> -1 IS DISTINCT FROM g.entry END
  RETURNING d.resource, d.record, CASE d.state WHEN 'waiting' THEN d.first_tried_at END AS first_tried_at
), freed AS MATERIALIZED (
  SELECT n.seq, greatest(${now.toISOString()}::timestamptz, n.free_at) AS free_at
  FROM (SELECT o.resource, o.record, max(o.first_tried_at) AS first_tried_at FROM done o GROUP BY 1, 2) r
    CROSS JOIN LATERAL (
      SELECT min(w.seq) FILTER (WHERE w.first_tried_at IS NULL) AS seq,
        ${freeAt(sql`greatest(r.first_tried_at, w.first_tried_at)`)} AS free_at
      FROM (${waiting}) w) n
  WHERE n.seq IS NOT NULL
)
UPDATE webhook_delivery d SET next_at = (SELECT f.free_at FROM freed f WHERE f.seq = d.seq)
WHERE ${isOf(webhook, sql`d`)} AND d.seq = ANY(ARRAY(SELECT f.seq FROM freed f))`
}

/** Puts what waits among the dead letters, so many at a time: how many there were. */
export async function giveUp(db: QueueDatabase, held: Held, reason: string, max: number): Promise<number> {
  const rows = await ask(
    db,
    sql`UPDATE webhook_delivery d SET state = 'dead', next_at = NULL, error = coalesce(d.error, ${reason}::text)
WHERE ${isOf(held, sql`d`)} AND d.seq = ANY(ARRAY(
  SELECT w.seq FROM webhook_delivery w WHERE ${isOf(held, sql`w`)} AND w.state = 'waiting'
  LIMIT ${sql.integer(max)}))
RETURNING 1 AS one`,
  )
  return rows.length
}
