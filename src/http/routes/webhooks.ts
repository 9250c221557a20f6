/** Webhooks over HTTP (D72): a secret is shown once, when it is created. */
import { memberProblem, type ProblemCode, Refusal, type Warning } from '../../errors.ts'
import { isObject, type Json } from '../../json.ts'
import {
  addCursorProblem,
  beginQuery,
  oneOf,
  single,
  throwProblems,
  wholeNumber,
} from '../../lists/parameters.ts'
import type { Transaction } from '../../records/store.ts'
import { deliveriesMax, deliveryStates } from '../../resources/webhook.ts'
import {
  type LogRequest,
  readDeliveries,
  replay,
  replayDelivery,
  testWebhook,
} from '../../work/webhooks/deliveries.ts'
import {
  changeOf,
  createWebhook,
  requireThere,
  rotateWebhook,
  type SavedWebhook,
} from '../../work/webhooks/store.ts'
import type { WebhookWorker } from '../../work/webhooks/worker.ts'
import { createdAnswer, okAnswer, recordAnswer } from '../answer.ts'
import { readParameters } from '../parameters.ts'
import { type ApiRequest, bodyOf, contextOf, idOf, preconditionOf } from '../request.ts'
import type { Handler } from '../route.ts'
import type { RecordService } from './record-routes.ts'

export type WebhookService = {
  readonly db: Transaction
  readonly worker: WebhookWorker
  readonly now: () => Date
}

/** Maximum overlap, in hours, in which the old secret also signs deliveries; and its default. */
export const overlapMax = 168
const overlapDefault = 24
const pageSizeDefault = 25

export function webhookHandlers(service: WebhookService) {
  const { db, worker, now } = service
  const changes = (handler: Handler) => changing(service, handler)
  return {
    create: changes(async request => {
      readParameters(request.query, [], [])
      const context = { ...contextOf(request), rights: request.caller.rights }
      return createdAnswer(
        withSecret(await createWebhook(db, worker.outgoing, context, bodyOf(request))),
        request.path,
      )
    }),
    rotate: changes(async request => {
      readParameters(request.query, [], [])
      const hours = memberOf(request.body, 'overlap_hours', overlapMax) ?? overlapDefault
      const precondition = preconditionOf(request)
      const saved = await rotateWebhook(db, contextOf(request), idOf(request), hours, precondition)
      return recordAnswer(withSecret(saved))
    }),
    test: async request => {
      readParameters(request.query, [], [])
      return okAnswer(await testWebhook(db, worker.outgoing, contextOf(request), idOf(request), now))
    },
    replay: changes(async request => {
      readParameters(request.query, [], [])
      await requireThere(db, contextOf(request), idOf(request))
      const after = memberOf(request.body, 'after', Number.MAX_SAFE_INTEGER)
      if (after === null) throw unusable('after', 'required', 'after is required: the seq of an event, or 0.')
      const id = idOf(request)
      const last = await replay(db, contextOf(request), id, after)
      return okAnswer(JSON.stringify({ id, after, last }))
    }),
    deliveries: async request => {
      const asked = readLogQuery(request)
      const { deliveries, next } = await readDeliveries(db, contextOf(request), idOf(request), asked)
      const nextCursor = next === null ? null : cursorText(next)
      return okAnswer(`[${deliveries.join()}]`, {
        pageSize: asked.pageSize,
        hasMore: next !== null,
        nextCursor,
      })
    },
    replayDelivery: changes(async request => {
      readParameters(request.query, [], [])
      const seq = idOf({ id: request.option })
      return okAnswer(await replayDelivery(db, contextOf(request), idOf(request), seq))
    }),
  } satisfies { [name: string]: Handler }
}

/** Extra rules and changes of a webhook's update. */
export function webhookChange({ db, worker }: WebhookService): NonNullable<RecordService['given']> {
  return request => {
    const context = { ...contextOf(request), rights: request.caller.rights }
    return changeOf(db, worker.outgoing, context, idOf(request), bodyOf(request))
  }
}

/** A handler after which the worker checks the account's webhooks. */
export function changing({ worker }: WebhookService, handler: Handler): Handler {
  return async request => {
    const answer = await handler(request)
    worker.changed(request.caller.catalog.account.id)
    return answer
  }
}

/** A replay doesn't show the secret again. */
function withSecret({ secret, ...saved }: SavedWebhook): SavedWebhook {
  const record = `${saved.record.slice(0, -1)},"secret":${JSON.stringify(secret)}}`
  const warnings: Warning[] = secret === null ? [...saved.warnings, shownOnce] : [...saved.warnings]
  return { ...saved, record, warnings, secret }
}

const shownOnce: Warning = {
  field: 'secret',
  code: 'shown_once',
  message: 'The secret was in the first answer to this request; rotate it for another.',
}

/** The only member of a body, a whole number; null if it is absent. */
function memberOf(body: Json | undefined, name: string, max: number): number | null {
  if (body === undefined) return null
  if (!isObject(body)) throw new Refusal('malformed_json', `The body must be a JSON object with ${name}.`)
  const unknown = Object.keys(body).find(member => member !== name)
  if (unknown !== undefined)
    throw unusable(unknown, 'unknown_field', `There is no ${unknown}; known: ${name}.`)
  const value = body[name] ?? null
  if (value === null || (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max))
    return value as number | null
  const to = max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''
  throw unusable(name, 'invalid_value', `${name} must be a whole number from 0${to}.`)
}

function unusable(field: string, code: ProblemCode, message: string): Refusal {
  return new Refusal('validation_failed', 'The body could not be used.', [
    memberProblem(field, code, message),
  ])
}

function readLogQuery(request: ApiRequest): LogRequest {
  const query = beginQuery(request.query, ['state', 'pageSize', 'cursor'])
  const { problems } = query
  const pageSize = wholeNumber(query, ['pageSize'], pageSizeDefault, deliveriesMax)
  const state = oneOf(query, 'state', deliveryStates)
  const cursor = single(query, 'cursor')
  const before = cursor === null ? null : seqOf(cursor)
  if (cursor !== null && before === null) addCursorProblem(problems)
  throwProblems(problems, 'The deliveries could not be read.')
  return { state, pageSize, before }
}

function cursorText(before: number): string {
  return Buffer.from(String(before)).toString('base64url')
}

function seqOf(cursor: string): number | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}
