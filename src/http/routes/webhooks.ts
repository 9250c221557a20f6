/** Webhooks over HTTP (D72): a secret is shown once, when it is created. */
import { memberProblem, type ProblemCode, Refusal } from '../../errors.ts'
import { arrayOf, closedObject, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { isObject, type Json } from '../../json.ts'
import { beginQuery, cursorOf, oneOf, throwProblems, wholeNumber } from '../../lists/parameters.ts'
import type { Transaction } from '../../records/store.ts'
import type { SavedSecret } from '../../records/write/operation.ts'
import { deliveriesMax, deliveryStates } from '../../resources/webhook.ts'
import { seqCursorText, seqInCursor } from '../../seq-cursor.ts'
import {
  type LogRequest,
  readDeliveries,
  replay,
  replayDelivery,
  testWebhook,
} from '../../work/webhooks/deliveries.ts'
import { changeOf, createWebhook, requireThere, rotateWebhook } from '../../work/webhooks/store.ts'
import type { WebhookWorker } from '../../work/webhooks/worker.ts'
import { createdAnswer, okAnswer, recordAnswer, withSecret } from '../answer.ts'
import { created, cursorPageMeta, envelope, ok, refined } from '../openapi/operation.ts'
import { type ApiRequest, bodyOf, idOf, preconditionOf, workOf } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { createOperation, type RecordService, rotateOperation } from './record-routes.ts'

const tag = 'webhook'
const [read, write] = ['webhook:read', 'webhook:write'] as const
const one = `${base}/webhook/:id`
const whole = { type: 'integer', minimum: 0 }
const delivery = envelope(schemaRef('delivery'))
const secretAnswer = envelope(
  refined('webhook_read', {
    secret: { type: ['string', 'null'], description: 'What signs deliveries; it is shown this once.' },
  }),
  schemaRef('write_meta'),
)

/** A webhook's share of the common routes, and its own ones. */
export function webhookRoutes(service: WebhookService, records: readonly AccountRoute[]): AccountRoute[] {
  const common = records.map(route =>
    route.scope === write ? { ...route, handler: changing(service, route.handler) } : route,
  )
  return [...common, ...secretRoutes(service), ...deliveryRoutes(service)]
}

function secretRoutes(service: WebhookService): AccountRoute[] {
  const { create, rotate } = webhookHandlers(service)
  const { parameters: _, ...operation } = createOperation('webhook')
  return [
    route('POST', `${base}/webhook`, write, create, { ...operation, responses: [created(secretAnswer)] }),
    route('POST', `${one}/rotate`, write, rotate, rotateOperation('webhook', overlapMax, secretAnswer)),
  ]
}

function deliveryRoutes(service: WebhookService): AccountRoute[] {
  const { test, replay, deliveries, replayDelivery } = webhookHandlers(service)
  const replayed = { id: whole, after: whole, last: whole }
  return [
    route('POST', `${one}/test`, write, test, {
      ...{ id: 'webhook_test', summary: 'Sends a webhook a test, and says how that went.', tag },
      responses: [ok('The delivery.', delivery)],
      errors: ['record_not_found'],
    }),
    route('POST', `${one}/replay`, write, replay, {
      ...{ id: 'webhook_replay', summary: 'Sends a webhook all events after one again.', tag },
      body: { schema: closedObject({ after: whole }, ['after']) },
      responses: [ok('They are sent from now on.', envelope(openObject(replayed)))],
      errors: ['record_not_found', 'validation_failed'],
    }),
    route('GET', `${one}/deliveries`, read, deliveries, {
      ...{ id: 'webhook_deliveries', summary: 'Lists what was delivered to a webhook.', tag },
      parameters: ['delivery_state', 'delivery_size', 'cursor'],
      responses: [
        ok(
          'Deliveries, those of the newest events first.',
          envelope(arrayOf(schemaRef('delivery')), cursorPageMeta, true),
        ),
      ],
      errors: ['record_not_found'],
    }),
    route('POST', `${one}/deliveries/:delivery/replay`, write, replayDelivery, {
      ...{ id: 'webhook_replay_delivery', summary: 'Sends one delivery again.', tag },
      responses: [ok('The delivery, which waits.', delivery)],
      errors: ['record_not_found', 'validation_failed'],
    }),
  ]
}

export type WebhookService = {
  readonly db: Transaction
  readonly worker: WebhookWorker
  readonly now: () => Date
}

/** Maximum overlap, in hours, in which the old secret also signs deliveries; and its default. */
const overlapMax = 168
const overlapDefault = 24
const pageSizeDefault = 25

export function webhookHandlers(service: WebhookService) {
  const { db, worker, now } = service
  const work = (request: ApiRequest) => workOf(request, db, 'webhook')
  const changes = (handler: Handler) => changing(service, handler)
  return {
    create: changes(async request => {
      const saved = await createWebhook(work(request), worker.outgoing, bodyOf(request))
      return createdAnswer(withWebhookSecret(saved), request.path)
    }),
    rotate: changes(async request => {
      const hours = memberOf(request.body, 'overlap_hours', overlapMax) ?? overlapDefault
      const precondition = preconditionOf(request)
      const saved = await rotateWebhook(work(request), idOf(request), hours, precondition)
      return recordAnswer(withWebhookSecret(saved))
    }),
    test: async request => okAnswer(await testWebhook(work(request), worker.outgoing, idOf(request), now)),
    replay: changes(async request => {
      await requireThere(work(request), idOf(request))
      const after = memberOf(request.body, 'after', Number.MAX_SAFE_INTEGER)
      if (after === null) throw unusable('after', 'required', 'after is required: the seq of an event, or 0.')
      const id = idOf(request)
      const last = await replay(work(request), id, after)
      return okAnswer(JSON.stringify({ id, after, last }))
    }),
    deliveries: async request => {
      const asked = readLogQuery(request)
      const { deliveries, next } = await readDeliveries(work(request), idOf(request), asked)
      const nextCursor = next === null ? null : seqCursorText(next)
      return okAnswer(`[${deliveries.join()}]`, {
        pageSize: asked.pageSize,
        hasMore: next !== null,
        nextCursor,
      })
    },
    replayDelivery: changes(async request => {
      const seq = idOf({ id: request.secondId })
      return okAnswer(await replayDelivery(work(request), idOf(request), seq))
    }),
  } satisfies { [name: string]: Handler }
}

/** Extra rules and changes of a webhook's update. */
export function webhookChange({ db, worker }: WebhookService): NonNullable<RecordService['writeOptionsOf']> {
  return request => changeOf(workOf(request, db, 'webhook'), worker.outgoing, idOf(request), bodyOf(request))
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
const withWebhookSecret = (saved: SavedSecret) =>
  withSecret(saved, 'secret', 'The secret was in the first answer to this request; rotate it for another.')

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
  const pageSize = wholeNumber(query, ['pageSize'], pageSizeDefault, deliveriesMax)
  const state = oneOf(query, 'state', deliveryStates)
  const before = cursorOf(query, seqInCursor)
  throwProblems(query.problems, 'The deliveries could not be read.')
  return { state, pageSize, before }
}
