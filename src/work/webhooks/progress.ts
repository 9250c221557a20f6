/**
 * The progress of webhooks, in the database (D72): which have work, which process serves them, and their
 * configuration. A process holds a webhook by a lease, so no two send the same event at once. No statement
 * locks more than one webhook, or an account.
 */
import { askEverywhere, type Everywhere } from '../../accounts/everywhere.ts'
import { jsonInstant } from '../../fields/moment.ts'
import { eventRows } from '../../history/present.ts'
import type { Reader } from '../../records/store.ts'
import { type Caller, callerParamsOf } from '../../rights/visibility.ts'
import { ask, type Sql, sql } from '../../sql.ts'
import { leaseOn } from '../../waiting/lease.ts'

export type Rows = readonly Record<string, string | null>[]

export type Webhook = { readonly account: number; readonly id: number }
/** A webhook with work; `isFailing`: its last delivery failed. */
export type WebhookWithWork = Webhook & { readonly isFailing: boolean }
/** The `webhook-id` of an event, the same for each attempt: an idempotency key for the receiver. */
export function messageId({ account, id }: Webhook, seq: number): string {
  return `msg_${account}_${id}_${seq}`
}

/** A webhook with the process that holds its lease. */
export type LeasedWebhook = Webhook & { readonly holder: string }

const lease = leaseOn<Webhook>({
  table: 'webhook_progress',
  alias: 'p',
  seconds: 5,
  isRow: webhook => isOf(webhook, sql`p`),
})

/** A condition: the row `p` of webhook_progress is the webhook's, and this process holds its lease. */
export function isHeld(held: LeasedWebhook): Sql {
  return lease.isHeld(held, held.holder)
}

/**
 * The webhooks with work. `among`: those of accounts with recent writes; `due`: those with due deliveries, in
 * all accounts; `behind`: those with events that were not scanned.
 */
export async function findWork(
  db: Everywhere,
  where: { readonly among: readonly number[] } | 'due' | 'behind',
  now: Date,
): Promise<WebhookWithWork[]> {
  const isDue = sql`p.next_at <= ${now.toISOString()}::timestamptz`
  const isBehind = sql`p.is_active AND p.seq < c.last_seq`
  const wanted =
    where === 'due'
      ? sql`${isDue} AND ${lease.isFree}`
      : where === 'behind'
        ? sql`${isBehind} AND ${lease.isFree}`
        : sql`p.account_id = ANY(${`{${where.among.join()}}`}::bigint[]) AND (${isDue} OR ${isBehind})`
  const { rows } = await askEverywhere(
    db,
    isAsked => sql`SELECT p.account_id::text AS account, p.webhook::text AS webhook,
  (p.failing_since IS NOT NULL)::text AS is_failing
FROM webhook_progress p JOIN counter c ON c.account_id = p.account_id
  JOIN account a ON a.account_id = p.account_id
WHERE a.deleted_at IS NULL AND ${wanted} AND ${isAsked(sql`p.account_id`)} AND ${isAsked(sql`c.account_id`)}
  AND ${isAsked(sql`a.account_id`)}`,
  )
  return rows.map(({ account, webhook, is_failing }) => ({
    ...{ account: Number(account), id: Number(webhook), isFailing: is_failing === 'true' },
  }))
}

/** Takes or renews the lease on a webhook. False if another process holds it. */
export async function claim(db: Reader, held: LeasedWebhook, now: Date): Promise<boolean> {
  const set = sql`next_at = ${now.toISOString()}::timestamptz`
  return (await lease.claim(db, held, held.holder, { set, returning: sql`1 AS one` })) !== null
}

/** Releases a webhook, and records when it has work again. */
export async function release(db: Reader, held: LeasedWebhook): Promise<void> {
  const nextAt = sql`(SELECT min(d.next_at) FROM webhook_delivery d
  WHERE ${isOf(held, sql`d`)} AND d.next_at IS NOT NULL)`
  await lease.release(db, held, held.holder, sql`next_at = ${nextAt}`)
}

/** The current signing secrets, the newest first. Never show or log them. */
export async function secretsOf(db: Reader, webhook: Webhook): Promise<string[]> {
  const [row] = await ask(db, sql`SELECT ${secretsSql(webhook)} AS secrets`)
  return JSON.parse(row!.secrets!) as string[]
}

function secretsSql(webhook: Webhook): Sql {
  return sql`(
    SELECT coalesce(json_agg(s.secret ORDER BY s.version DESC), '[]') FROM webhook_secret s
    WHERE ${isOf(webhook, sql`s`)} AND (s.valid_until IS NULL OR s.valid_until > now()))::text`
}

/** A webhook's current configuration. */
export type Configuration = {
  readonly seq: number
  readonly lastSeq: number
  readonly isActive: boolean
  /** that of the record */
  readonly version: number
  readonly url: string
  readonly types: readonly string[]
  readonly filter: string | null
  readonly user: number
  /** scopes that narrow the user's rights; null: not narrowed */
  readonly scopes: readonly string[] | null
  readonly secrets: readonly string[]
  readonly failingSince: Date | null
}

/** Null if the lease is lost; 'gone' if the webhook was deleted. */
export async function configurationOf(
  db: Reader,
  held: LeasedWebhook,
): Promise<Configuration | 'gone' | null> {
  const statement = sql`SELECT p.seq::text AS seq, c.last_seq::text AS last_seq,
    p.is_active::text AS is_active,
  ${jsonInstant(sql`p.failing_since`)} AS failing_since, w.version::text AS version, w.url,
  w.events::text AS events, w.filter,
  w."user"::text AS "user", p.scopes::text AS scopes, (w.deleted_at IS NULL AND w.id IS NOT NULL)::text AS is_there,
  ${secretsSql(held)} AS secrets
FROM webhook_progress p JOIN counter c ON c.account_id = p.account_id
  LEFT JOIN webhook w ON w.account_id = p.account_id AND w.id = p.webhook
WHERE ${isHeld(held)}`
  const [row] = await ask(db, statement)
  if (!row) return null
  if (row.is_there !== 'true') return 'gone'
  return {
    seq: Number(row.seq),
    lastSeq: Number(row.last_seq),
    isActive: row.is_active === 'true',
    version: Number(row.version),
    url: row.url!,
    types: JSON.parse(row.events!) as string[],
    filter: row.filter ?? null,
    user: Number(row.user),
    scopes: row.scopes ? (JSON.parse(row.scopes) as string[]) : null,
    secrets: JSON.parse(row.secrets!) as string[],
    failingSince: row.failing_since === null ? null : new Date(JSON.parse(row.failing_since!) as string),
  }
}

/**
 * The account's events after the last one that was scanned, as present.ts reads them for the caller;
 * `hasMore`: true if more follow.
 */
export async function eventsAfter(
  db: Reader,
  caller: Caller,
  seq: number,
  max: number,
): Promise<{ rows: Rows; hasMore: boolean }> {
  const params = callerParamsOf(caller)
  const condition = sql`e.account_id = ${params.account}::bigint AND e.seq > ${String(seq)}::bigint`
  const rows = await ask(db, eventRows(params, condition, 'ASC', max))
  return { rows, hasMore: rows.at(-1)?.has_next === 'true' }
}

/**
 * The events of deliveries in the order of `seq`, as present.ts reads them; the last ones are left out if the
 * total is too large.
 */
export async function eventsOf(
  db: Reader,
  caller: Caller,
  deliveries: readonly { readonly seq: number }[],
): Promise<Rows> {
  const params = callerParamsOf(caller)
  const seqs = `{${deliveries.map(({ seq }) => seq).join()}}`
  const condition = sql`e.account_id = ${params.account}::bigint AND e.seq = ANY(${seqs}::bigint[])`
  return ask(db, eventRows(params, condition, 'ASC', deliveries.length))
}

/** Deletes the rows of a deleted webhook in batches; true if there were any. */
export async function forget(db: Reader, webhook: Webhook, max: number): Promise<boolean> {
  const own = isOf(webhook, sql`d`)
  const statement = sql`WITH gone AS (
  DELETE FROM webhook_delivery d WHERE ${own} AND d.seq = ANY(ARRAY(
    SELECT d.seq FROM webhook_delivery d WHERE ${own} LIMIT ${sql.integer(max)})) RETURNING 1 AS one
), secrets AS (DELETE FROM webhook_secret d WHERE ${own} RETURNING 1 AS one)
SELECT (SELECT count(*) FROM gone)::text AS deliveries, (SELECT count(*) FROM secrets)::text AS secrets`
  const [row] = await ask(db, statement)
  if (Number(row!.deliveries) === max) return true
  await ask(db, sql`DELETE FROM webhook_progress d WHERE ${own}`)
  return false
}

/** A condition: a row of these tables is the webhook's. */
export function isOf({ account, id }: Webhook, row: Sql): Sql {
  return sql`${row}.account_id = ${String(account)}::bigint AND ${row}.webhook = ${String(id)}::bigint`
}
