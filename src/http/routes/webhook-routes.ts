/** The routes of webhooks (D72). A secret is shown once, when it is created. */
import { arrayOf, closedObject, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { created, cursorPageMeta, envelope, ok, refined } from '../openapi/operation.ts'
import { type AccountRoute, base, route } from '../route.ts'
import { createOperation } from './record-routes.ts'
import { changing, overlapMax, type WebhookService, webhookHandlers } from './webhooks.ts'

const tag = 'webhook'
const [read, write] = ['webhook:read', 'webhook:write'] as const
const one = `${base}/webhook/:id`
const whole = { type: 'integer', minimum: 0 }
const delivery = envelope(schemaRef('delivery'))
const withSecret = envelope(
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
    route('POST', `${base}/webhook`, write, create, { ...operation, responses: [created(withSecret)] }),
    route('POST', `${one}/rotate`, write, rotate, {
      ...{ id: 'webhook_rotate', summary: 'Gives a webhook a new secret.', tag, ifMatch: true },
      body: {
        schema: {
          type: 'object',
          properties: { overlap_hours: { type: ['integer', 'null'], minimum: 0, maximum: overlapMax } },
          ...{ required: [], additionalProperties: false },
        },
        isOptional: true,
      },
      responses: [ok('The webhook with its new secret.', withSecret, ['etag'])],
      errors: ['record_not_found', 'validation_failed'],
    }),
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
