/**
 * The delivery log of a webhook for its owners (D72), test deliveries, and redelivery. Each of these
 * writes has an event. Knows no HTTP.
 */
import { Refusal } from '../../errors.ts'
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import { jsonInstant } from '../../fields/moment.ts'
import { presentEvents } from '../../history/present.ts'
import { storedResponse, type Written, writeIdempotently } from '../../records/idempotency.ts'
import type { Transaction } from '../../records/store.ts'
import type { Work } from '../../records/work.ts'
import { type Write, writeParamsOf } from '../../records/write/protocol.ts'
import type { deliveryStates } from '../../resources/webhook.ts'
import { changeable, visible } from '../../rights/visibility.ts'
import { ask, param, type Sql, sql } from '../../sql.ts'
import type { Outgoing } from './outgoing.ts'
import { bodyOf } from './payload.ts'
import { eventsOf, messageId, secretsOf, type Webhook } from './progress.ts'
import { saveTestOutcome } from './queue.ts'
import { signedHeaders } from './signature.ts'
import { requireInUse, requireThere } from './store.ts'

export type LogRequest = {
  readonly state: (typeof deliveryStates)[number] | null
  readonly pageSize: number
  /** only deliveries of events before this one; null: from the newest */
  readonly before: number | null
}

/**
 * A page of deliveries as JSON texts, the newest events first; `next`: the cursor of the next page. Throws
 * `record_not_found`.
 */
export async function readDeliveries(
  work: Work,
  id: number,
  { state, pageSize, before }: LogRequest,
): Promise<{ deliveries: string[]; next: number | null }> {
  await requireThere(work, id)
  const isWanted = sql`${state ? sql` AND d.state = ${state}::text` : sql.none}${
    before === null ? sql.none : sql` AND d.seq < ${String(before)}::bigint`
  }`
  const rows = await ask(work.db, deliveriesSql(webhookOf(work, id), isWanted, pageSize + 1))
  const page = rows.slice(0, pageSize)
  const next = rows.length > pageSize ? Number(page.at(-1)!.seq) : null
  return { deliveries: page.map(textOf), next }
}

/**
 * Sends a test event to the receiver of a webhook, active or not. Returns the delivery with its outcome as
 * JSON text. There is no retry. Throws `record_not_found`.
 */
export async function testWebhook(
  work: Work,
  outgoing: Outgoing,
  id: number,
  now: () => Date,
): Promise<string> {
  const { db, context } = work
  const webhook = webhookOf(work, id)
  const before = await storedResponse<object>(db, context)
  if (before) return onlyDelivery(db, webhook, Number(before.row.seq))
  const shown = await requireThere(work, id)
  const written = await happened(work, id, 'webhook.tested', () => [
    {
      name: 'put',
      change: sql`
  INSERT INTO webhook_delivery (account_id, webhook, seq, type, resource, record, state, created_at)
  SELECT counted.account, r.id, counted.last_seq, 'webhook.tested', 'webhook', r.id, 'dead', counted.at
  FROM r, counted
`,
    },
  ])
  const seq = Number(written.row.seq)
  const [event] = await presentEvents(db, context, await eventsOf(db, context, [{ seq }]))
  const body = bodyOf(event!, shown)
  const at = now()
  const headers = signedHeaders(await secretsOf(db, webhook), messageId(webhook, seq), at, body)
  const { traceparent = null } = context
  const attempt = await outgoing.post({ url: shown.url as string, headers, body, tries: 0, traceparent })
  if (attempt) {
    const state = attempt.error === null ? 'delivered' : 'dead'
    await saveTestOutcome(db, webhook, { seq, tries: 0, round: 0, attempt, at, state, nextAt: null })
  }
  return onlyDelivery(db, webhook, seq)
}

/**
 * Replays all matching events after `after` to a webhook. Returns the account's newest event. Throws
 * `record_not_found`, and `validation_failed` if the webhook is inactive, or no event follows `after`.
 */
export async function replay(work: Work, id: number, after: number): Promise<number> {
  const before = await storedResponse<object>(work.db, work.context)
  if (before) return Number(before.row.seq)
  await requireInUse(work, id)
  const { row } = await happened(work, id, 'webhook.replayed', params => [
    {
      name: 'progress',
      change: sql`
  UPDATE webhook_progress p SET seq = least(p.seq, ${String(after)}::bigint), next_at = counted.at
  FROM r, counted WHERE p.account_id = ${params.account}::bigint AND p.webhook = r.id
`,
    },
  ])
  return Number(row.seq)
}

/**
 * Sends one delivery again, under the same id. Returns it as JSON text. Throws `record_not_found`, and
 * `validation_failed` if the webhook is inactive.
 */
export async function replayDelivery(work: Work, id: number, seq: number): Promise<string> {
  const { db } = work
  const webhook = webhookOf(work, id)
  const before = await storedResponse<object>(db, work.context)
  if (before) return onlyDelivery(db, webhook, seq)
  await requireInUse(work, id)
  await onlyDelivery(db, webhook, seq)
  await happened(work, id, 'webhook.replayed', ({ account }) => [
    {
      name: 'progress',
      change: sql`
  UPDATE webhook_progress p SET next_at = counted.at
  FROM r, counted WHERE p.account_id = ${account}::bigint AND p.webhook = r.id
`,
      returning: sql`p.webhook`,
      rows: () => sql`SELECT p.webhook FROM webhook_progress p
  WHERE p.account_id = ${account}::bigint AND p.webhook = ${String(id)}::bigint`,
    },
    // It reads `progress`, which is locked first, as by the process that notes an outcome: no deadlock.
    {
      name: 'again',
      change: sql`
  UPDATE webhook_delivery d SET state = 'waiting', next_at = counted.at, tries = 0, first_tried_at = NULL,
    round = d.round + 1
  FROM progress, counted WHERE d.account_id = ${account}::bigint AND d.webhook = progress.webhook
    AND d.seq = ${String(seq)}::bigint
`,
    },
  ])
  return onlyDelivery(db, webhook, seq)
}

/** Appends an event of the webhook, along with `steps`. The result has its `seq`. */
async function happened(
  { db, context }: Work,
  id: number,
  type: string,
  steps: (params: WriteParams) => Step[],
): Promise<Written<object>> {
  const params = writeParamsOf(context)
  const [x, own] = [sql`x`, param(String(id))]
  const isIt = sql`${visible('webhook', params, x)} AND x.id = ${own}::bigint`
  const isThere = sql`${isIt} AND ${changeable('webhook', params, x)} AND x.deleted_at IS NULL`
  const write: Write = {
    conditions: [sql`EXISTS (SELECT 1 FROM webhook x WHERE ${isThere})`],
    locksFirst: true,
    steps: [
      { name: 'r', rows: () => sql`SELECT x.id, x.version FROM locked, webhook x WHERE ${isIt}` },
      ...steps(params),
    ],
    events: [{ type, resource: 'webhook', of: sql`r` }],
    answer: sql`SELECT r.id::text AS id, counted.last_seq::text AS seq FROM r, counted`,
  }
  const written = await writeIdempotently(db, params, context, write, {})
  if (!written) throw notFound(`There is no webhook ${id}, or the configuration was changed meanwhile.`)
  return written
}

async function onlyDelivery(db: Transaction, webhook: Webhook, seq: number): Promise<string> {
  const isIt = sql` AND d.seq = ${String(seq)}::bigint`
  const [row] = await ask(db, deliveriesSql(webhook, isIt, 1))
  if (!row) throw notFound(`There is no delivery ${seq} of the webhook ${webhook.id}.`)
  return textOf(row)
}

/** Removes the blanks that the database puts between members. */
function textOf({ delivery }: Readonly<Record<string, string | null>>): string {
  return JSON.stringify(JSON.parse(delivery!))
}

function notFound(detail: string): Refusal {
  return new Refusal('record_not_found', detail)
}

function webhookOf({ context: { catalog } }: Work, id: number): Webhook {
  return { account: catalog.account.id, id }
}

/** SQL of deliveries as JSON texts, the newest first; their ids are the `seq` of their events. */
function deliveriesSql(webhook: Webhook, isWanted: Sql, max: number): Sql {
  const { account, id } = webhook
  const instant = (time: Sql) => sql`${jsonInstant(time)}::json`
  return sql`SELECT d.seq::text AS seq, json_build_object('id', d.seq,
  'webhook_id', ${messageId(webhook, 0).slice(0, -1)}::text || d.seq, 'type', d.type, 'resource', d.resource,
  'record', d.record, 'state', d.state, 'created_at', ${instant(sql`d.created_at`)},
  'next_attempt_at', ${instant(sql`d.next_at`)}, 'attempts', d.attempts, 'status', d.status, 'error', d.error,
  'duration_ms', d.duration_ms, 'answer', d.answer, 'log', d.log)::text AS delivery
FROM webhook_delivery d
WHERE d.account_id = ${String(account)}::bigint AND d.webhook = ${String(id)}::bigint${isWanted}
ORDER BY d.seq DESC LIMIT ${sql.integer(max)}`
}
