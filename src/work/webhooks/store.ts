/**
 * Webhooks with their secrets (D72). The record is the subscription; secrets and progress are stored beside
 * it, and change in the same statements. Knows no HTTP.
 */
import { memberProblem, type Problem, Refusal } from '../../errors.ts'
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import { momentPlaceholder } from '../../fields/moment.ts'
import { asText, isObject, type Json, type JsonObject, parseJson } from '../../json.ts'
import type { Precondition } from '../../records/precondition.ts'
import { readRecord } from '../../records/read.ts'
import { endedSecrets, withSecretOnce } from '../../records/secrets.ts'
import type { Work } from '../../records/work.ts'
import type { RequestWork, SavedSecret, WriteContext, WriteOptions } from '../../records/write/operation.ts'
import { createRecord, updateRecord } from '../../records/write/save.ts'
import { filteredResource, inUse } from '../../resources/webhook.ts'
import type { Rights } from '../../rights/rights.ts'
import { sql } from '../../sql.ts'
import type { Outgoing } from './outgoing.ts'
import { filterPlan } from './payload.ts'
import { newWebhookSecret } from './signature.ts'

/** Creates a webhook from a body. Throws the errors of `createRecord`. */
export async function createWebhook(work: RequestWork, outgoing: Outgoing, body: Json): Promise<SavedSecret> {
  const secret = newWebhookSecret()
  const saved = await createRecord(work, body, {
    problems: await problemsOf(work, outgoing, body, null),
    steps: () => [secretRow(secret), newProgressRow(work.context.rights)],
  })
  return withSecretOnce(work, saved, secret)
}

/** The additions to a webhook's update: problems of its URL and filter, and its progress. */
export async function changeOf(
  work: RequestWork,
  outgoing: Outgoing,
  id: number,
  body: Json,
): Promise<WriteOptions> {
  const read = await readRecord(work, id).catch(error => {
    if (error instanceof Refusal && error.slug === 'record_not_found') return null
    throw error
  })
  // The update is refused later, or is a replay.
  if (!read) return {}
  const before = parseJson(read.record) as JsonObject
  return {
    problems: await problemsOf(work, outgoing, body, before),
    steps: params => [progressRow(params, work.context.rights)],
  }
}

/**
 * Rotates a webhook's secret. The previous one also signs deliveries for `overlapHours`; older ones end.
 * Throws the errors of `updateRecord`.
 */
export async function rotateWebhook(
  work: Work,
  id: number,
  overlapHours: number,
  precondition: Precondition,
): Promise<SavedSecret> {
  const secret = newWebhookSecret()
  const saved = await updateRecord(work, id, {}, precondition, {
    values: { rotated_at: momentPlaceholder },
    steps: params => [...endedSecrets(params, work, overlapHours), secretRow(secret)],
  })
  return withSecretOnce(work, saved, secret)
}

/** A webhook that is visible to the caller. Throws `record_not_found`. */
export async function requireThere(work: Work, id: number): Promise<JsonObject> {
  return parseJson((await readRecord(work, id)).record) as JsonObject
}

/** Like requireThere, for an active webhook. Throws also `validation_failed`. */
export async function requireInUse(work: Work, id: number): Promise<void> {
  const record = await requireThere(work, id)
  if (record.is_active === inUse.yes) return
  throw new Refusal('validation_failed', 'Nothing is sent again.', [
    {
      ...{ field: 'is_active', path: '', code: 'out_of_use', message: 'The webhook is out of use.' },
      hint: 'Take it into use first: PATCH it with {"is_active": "Yes"}.',
    },
  ])
}

/** Problems of the URL and the filter in a body, beyond those of their fields. */
async function problemsOf(
  { db, context }: RequestWork,
  outgoing: Outgoing,
  body: Json,
  before: JsonObject | null,
): Promise<Problem[]> {
  if (!isObject(body)) return []
  const { url, filter = before?.filter ?? null, events = before?.events ?? null } = body
  const isUrl = typeof url === 'string' && URL.canParse(url) && /^https?:/i.test(url.trim())
  const refused = isUrl && url !== before?.url ? await outgoing.refusalOf(new URL(url)) : null
  const resource = resourceOf(events, context)
  const isFilter = typeof filter === 'string' && filter.length <= 10_000 && resource !== null
  // Its scopes are always needed. Problems of one that stays, as of a field that is gone, are none of this
  // change: the webhook can be changed otherwise, and written back whole.
  const found = isFilter ? (await filterPlan(db, context, resource, filter)).problems : []
  const isNew = filter !== before?.filter || resource !== resourceOf(before.events!, context)
  const problems = isNew || isTakenIntoUse(body, before) ? found : []
  const refusal = { ...memberProblem('url', 'address_refused', `url ${refused}.`), hint: addressHint }
  return [...(refused ? [refusal] : []), ...problems]
}

function resourceOf(events: Json, { catalog }: WriteContext): string | null {
  return filteredResource(
    [events].flat().filter(type => typeof type === 'string'),
    catalog,
  )
}

function isTakenIntoUse({ is_active: sent }: JsonObject, before: JsonObject): boolean {
  const stays = sent === undefined || /^\s*(2|no|false)\s*$/i.test(asText(sent))
  return !stays && before.is_active !== inUse.yes
}

const addressHint = 'The operator may allow others: WEBHOOK_ALLOW_PRIVATE.'

/** A CTE that inserts a secret of the webhook `r`. */
function secretRow(secret: string): Step {
  return {
    name: 'secret',
    change: sql`
  INSERT INTO webhook_secret (account_id, webhook, version, secret)
  SELECT r.account_id, r.id, r.version, ${secret}::text FROM r
`,
  }
}

/** A CTE for the progress of the new webhook `r`, which starts at the current event. */
function newProgressRow(rights: Rights): Step {
  return {
    name: 'progress',
    change: sql`
  INSERT INTO webhook_progress (account_id, webhook, seq, is_active, scopes)
  SELECT r.account_id, r.id, counted.last_seq, r.is_active = 1, ${scopesOf(rights)}::jsonb
  FROM r, counted
`,
  }
}

/** The scopes of the webhook's author, which narrow its user's rights, as JSON. */
function scopesOf({ narrowedTo }: Rights): string | null {
  return narrowedTo && JSON.stringify(narrowedTo)
}

/**
 * A CTE for the progress of a changed webhook. Activation starts at the current event; deactivation gives up
 * waiting deliveries. `rights`: those of the author; null: the service itself, and the scopes stay.
 */
export function progressRow({ account }: WriteParams, rights: Rights | null): Step {
  const scopes = rights ? sql`, scopes = ${scopesOf(rights)}::jsonb` : sql.none
  const isBegun = sql`r.is_active = 1 AND NOT p.is_active`
  return {
    name: 'progress',
    change: sql`
  UPDATE webhook_progress p SET is_active = r.is_active = 1, next_at = counted.at,
    seq = CASE WHEN ${isBegun} THEN counted.last_seq ELSE p.seq END,
    failing_since = CASE WHEN ${isBegun} THEN NULL ELSE p.failing_since END,
    last_error = CASE WHEN ${isBegun} THEN NULL ELSE p.last_error END${scopes}
  FROM r, counted WHERE p.account_id = ${account}::bigint AND p.webhook = r.id
`,
  }
}
