/**
 * The delivery queue in the database (D72): due deliveries, outcomes of attempts, and the order per record.
 * Statements of a process without the lease change nothing. Deliveries stay for thirty days, or until their
 * webhook is deleted.
 */
import type { Everywhere } from '../../accounts/everywhere.ts'
import { jsonInstant } from '../../fields/moment.ts'
import type { Reader, Transaction } from '../../records/store.ts'
import { ask, deleteSome, type Param, param, type Sql, sql } from '../../sql.ts'
import type { Attempt } from './outgoing.ts'
import { forget, isHeld, isOf, type LeasedWebhook, type Webhook } from './progress.ts'
import { orderMinutes } from './retries.ts'

export type PendingEvent = {
  readonly seq: number
  readonly type: string
  readonly resource: string
  readonly record: number
}

/**
 * Records the scan of the events from `from` to `to`, and enqueues the deliveries. Earlier deliveries are
 * sent again; one that waits gets a new round, so that an attempt in flight does not settle it. False if
 * another process has come further meanwhile, or a replay begins elsewhere.
 */
export async function enqueue(
  db: Transaction & Everywhere,
  held: LeasedWebhook,
  { from, to }: { readonly from: number; readonly to: number },
  deliveries: readonly PendingEvent[],
  now: Date,
): Promise<boolean> {
  const [at, last] = [param(now.toISOString()), param(String(to))]
  const seen = new Set<string>()
  // A test of the webhook itself was sent when it was written.
  const due = deliveries.filter(({ type, record }) => type !== 'webhook.tested' || record !== held.id)
  const given = due.map(one => {
    const record = `${one.resource} ${one.record}`
    const isFirst = !seen.has(record)
    seen.add(record)
    return { ...one, is_first: isFirst }
  })
  const begun = (value: Sql, kept: Sql) =>
    sql`CASE WHEN webhook_delivery.state = 'waiting' THEN ${kept} ELSE ${value} END`
  const { untried, triedAt } = waitingOf(held, sql`g`)
  const isAtBegin = sql`${isHeld(held)} AND p.seq = ${String(from)}::bigint`
  const put = (mine: Sql) => sql`
  INSERT INTO webhook_delivery (account_id, webhook, seq, type, resource, record, state, created_at, next_at)
  SELECT ${String(held.account)}::bigint, ${String(held.id)}::bigint, g.seq, g.type, g.resource, g.record,
    'waiting', ${at}::timestamptz, CASE WHEN g.is_first AND ${untried} IS NULL
      THEN greatest(${at}::timestamptz, ${freeAt(triedAt)}) END
  FROM ${mine} jsonb_to_recordset(${JSON.stringify(given)}::jsonb) g
      (seq bigint, type text, resource text, record bigint, is_first boolean)
  ON CONFLICT (account_id, webhook, seq) DO UPDATE
  SET state = 'waiting', round = webhook_delivery.round + 1,
    next_at = ${begun(sql`excluded.next_at`, sql`webhook_delivery.next_at`)},
    tries = ${begun(sql`0`, sql`webhook_delivery.tries`)},
    first_tried_at = ${begun(sql`NULL`, sql`webhook_delivery.first_tried_at`)}`
  const moved = (mine: Sql) => sql`
  UPDATE webhook_progress p SET seq = ${last}::bigint ${mine} RETURNING p.seq::text AS seq`
  // Citus sends locked or changed rows that an INSERT in a WITH reads to every node, also to one that is
  // away (D178).
  if (db.isDistributed && db.transaction)
    return db.transaction({ account: String(held.account) }, async tx => {
      const [row] = await ask(tx, moved(sql`WHERE ${isAtBegin}`))
      if (row && given.length > 0) await ask(tx, put(sql.none))
      return { commits: true, result: row !== undefined }
    })
  const statement = sql`WITH mine AS (SELECT p.seq FROM webhook_progress p WHERE ${isAtBegin} FOR UPDATE),
moved AS (${moved(sql`FROM mine WHERE ${isOf(held, sql`p`)}`)}),
put AS (${put(sql`mine,`)})
SELECT seq FROM moved`
  const rows = await ask(db, statement)
  return rows.length > 0
}

/**
 * Of what waits of the record of the row `of`, without the deliveries `but`: the `seq` of the next one that
 * was not tried, and when the last of the others first was. Each reads one entry of webhook_delivery_turns,
 * however many wait.
 */
function waitingOf(webhook: Webhook, of: Sql, but: Sql | Param = sql`'{}'`) {
  const those = sql`FROM webhook_delivery w
    WHERE ${isOf(webhook, sql`w`)} AND w.resource = ${of}.resource AND w.record = ${of}.record
      AND w.state = 'waiting' AND w.seq <> ALL(${but}::bigint[])`
  return {
    untried: sql`(SELECT w.seq ${those} AND w.first_tried_at IS NULL
    ORDER BY w.first_tried_at DESC NULLS LAST, w.seq LIMIT 1)`,
    triedAt: sql`(SELECT max(w.first_tried_at) ${those})`,
  }
}

/** When the next event of a record is sent although earlier ones have failed (null: none was tried). */
function freeAt(triedAt: Sql): Sql {
  return sql`${triedAt} + make_interval(mins => ${sql.integer(orderMinutes)})`
}

export type Delivery = PendingEvent & {
  readonly tries: number
  /** number of replays: outcomes of an earlier round do not count */
  readonly round: number
  /** that of the request which wrote the event (D169); null: it was not traced */
  readonly traceparent: string | null
}

/** At most `max` due deliveries, except those that this process is already delivering. */
export async function dueDeliveries(
  db: Reader,
  held: LeasedWebhook,
  atHand: readonly number[],
  max: number,
  now: Date,
): Promise<Delivery[]> {
  const statement = sql`SELECT d.seq::text AS seq, d.type, d.resource, d.record::text AS record,
    d.tries::text AS tries,
  d.round::text AS round,
  (SELECT e.traceparent FROM event e WHERE e.account_id = ${String(held.account)}::bigint AND e.seq = d.seq) AS traceparent
FROM webhook_delivery d
WHERE ${isOf(held, sql`d`)} AND d.next_at <= ${now.toISOString()}::timestamptz
  AND d.seq <> ALL(${`{${atHand.join()}}`}::bigint[])
ORDER BY d.next_at, d.seq LIMIT ${sql.integer(max)}`
  const rows = await ask(db, statement)
  return rows.map(({ seq, type, resource, record, tries, round, traceparent }) => ({
    ...{ seq: Number(seq), type: type!, resource: resource!, record: Number(record) },
    ...{ tries: Number(tries), round: Number(round), traceparent: traceparent ?? null },
  }))
}

/** The outcome of an attempt, and its consequence. */
export type Outcome = Pick<Delivery, 'seq' | 'tries' | 'round'> & {
  readonly attempt: Attempt
  readonly at: Date
  readonly state: 'waiting' | 'delivered' | 'dead'
  /** when it is retried; null: never */
  readonly nextAt: Date | null
}

/** The outcome without a retry. */
export function settled(outcome: Outcome): Outcome {
  return outcome.state === 'waiting' ? { ...outcome, state: 'dead', nextAt: null } : outcome
}

export type Health = {
  /** start of the current failures; null: the last delivery succeeded */
  readonly failingSince: Date | null
  readonly lastError: string | null
  readonly deliveredAt: Date | null
}

/**
 * Records outcomes, and releases the next event of each record. That is the first untried one: at once if all
 * before it are done, else when it has waited long enough. `health` null: unchanged. Idempotent, so it can be
 * retried after a lost response.
 */
export async function saveOutcomes(
  db: Reader,
  held: LeasedWebhook,
  outcomes: readonly Outcome[],
  health: Health | null,
  now: Date,
): Promise<void> {
  const mine = sql`SELECT p.webhook FROM webhook_progress p
  WHERE ${isHeld(held)} FOR UPDATE`
  await ask(db, written(held, health ? healthOf(held, health) : mine, outcomes, now))
}

/** The row of a webhook that this process holds, with its health. */
function healthOf(held: LeasedWebhook, { failingSince, lastError, deliveredAt }: Health): Sql {
  return sql`UPDATE webhook_progress p
  SET failing_since = ${failingSince?.toISOString() ?? null}::timestamptz, last_error = ${lastError}::text,
    last_delivered_at = coalesce(${deliveredAt?.toISOString() ?? null}::timestamptz, p.last_delivered_at)
  WHERE ${isHeld(held)} RETURNING p.webhook`
}

/** Records the outcome of a test, which needs no lease. */
export async function saveTestOutcome(db: Reader, webhook: Webhook, outcome: Outcome): Promise<void> {
  await ask(db, written(webhook, sql`SELECT 1 AS one`, [outcome], outcome.at))
}

/**
 * `mine` has a row if this process may write. PostgreSQL's statistics take a table that grew quickly for
 * empty: so rows are looked up by a list of keys or for one record, never by a join of all of a webhook's
 * rows.
 */
function written(webhook: Webhook, mine: Sql, outcomes: readonly Outcome[], now: Date): Sql {
  const given = outcomes.map(({ seq, tries, round, attempt, at, state, nextAt }) => ({
    ...{ seq, tries, round, at, state, next_at: nextAt, status: attempt.status, error: attempt.error },
    ...{ duration_ms: attempt.durationMs, answer: attempt.answer },
  }))
  const seqs = param(`{${outcomes.map(({ seq }) => seq).join()}}`)
  const { untried, triedAt } = waitingOf(webhook, sql`r`, seqs)
  // An attempt of an earlier round does not settle the replay.
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
  RETURNING d.resource, d.record, CASE WHEN d.state = 'waiting' THEN d.first_tried_at END AS first_tried_at,
    d.state = 'waiting' AND d.first_tried_at IS NULL AS is_untried
), freed AS MATERIALIZED (
  SELECT ${untried} AS seq,
    greatest(${now.toISOString()}::timestamptz, ${freeAt(sql`greatest(r.first_tried_at, ${triedAt})`)}) AS free_at
  FROM (SELECT o.resource, o.record, max(o.first_tried_at) AS first_tried_at FROM done o GROUP BY 1, 2
    HAVING NOT bool_or(o.is_untried)) r
)
UPDATE webhook_delivery d SET next_at = (SELECT f.free_at FROM freed f WHERE f.seq = d.seq)
WHERE ${isOf(webhook, sql`d`)} AND d.seq = ANY(ARRAY(SELECT f.seq FROM freed f))`
}

/** Moves what waits of a webhook out of use to the dead letters, `max` at a time; returns the number. */
export async function giveUp(db: Reader, held: LeasedWebhook, reason: string, max: number): Promise<number> {
  const statement = sql`UPDATE webhook_delivery d SET state = 'dead', next_at = NULL,
    error = coalesce(d.error, ${reason}::text)
WHERE ${isOf(held, sql`d`)} AND d.seq = ANY(ARRAY(
  SELECT w.seq FROM webhook_delivery w WHERE ${isOf(held, sql`w`)} AND w.state = 'waiting'
    AND EXISTS (SELECT 1 FROM webhook_progress p WHERE ${isHeld(held)} AND NOT p.is_active)
  LIMIT ${sql.integer(max)}))
RETURNING 1 AS one`
  const rows = await ask(db, statement)
  return rows.length
}

const keptDays = 30
const batch = 2000

/** Purges an account's outdated deliveries, except waiting ones. */
export async function cleanDeliveries(db: Transaction, account: number, now: Date): Promise<void> {
  const own = param(String(account))
  const webhooks = await ask(
    db,
    sql`SELECT p.webhook::text AS webhook, EXISTS (
  SELECT 1 FROM webhook w WHERE w.account_id = ${own}::bigint AND w.id = p.webhook AND w.deleted_at IS NULL
)::text AS is_kept FROM webhook_progress p WHERE p.account_id = ${own}::bigint`,
  )
  // Without webhooks there are no deliveries, which most accounts are thus not asked for.
  if (webhooks.length === 0) return
  const oldest = param(new Date(now.getTime() - keptDays * 86_400_000).toISOString())
  const isOutdated = (row: Sql) => sql`${row}.account_id = ${own}::bigint
  AND ${row}.created_at < ${oldest}::timestamptz AND ${row}.state <> 'waiting'`
  while ((await deleteSome(db, 'webhook_delivery', batch, isOutdated)) === batch);
  for (const { webhook } of webhooks.filter(({ is_kept }) => is_kept === 'false'))
    while (await forget(db, { account, id: Number(webhook) }, batch));
}
