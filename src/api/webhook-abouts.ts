/** What the routes of webhooks are, for the OpenAPI document (D72, D90). */
import { type About, created, enveloped, named, ok, refined } from '../openapi/about.ts'
import { recordAbouts } from './record-abouts.ts'

export type WebhookOperation = 'create' | 'rotate' | 'test' | 'replay' | 'deliveries' | 'replayDelivery'
type Abouts<O extends WebhookOperation> = { readonly [operation in O]: About }

const tag = 'webhook'
const whole = { type: 'integer', minimum: 0 }
const delivery = enveloped(named('delivery'))

export function webhookAbouts(): Abouts<WebhookOperation> {
  return { ...savingAbouts(), ...sendingAbouts, deliveries: logAbout }
}

/** Making or rotating a webhook answers its secret once. */
function savingAbouts(): Abouts<'create' | 'rotate'> {
  const { parameters: _, ...made } = recordAbouts('webhook', false).create
  const secret = refined('webhook_read', {
    secret: { type: ['string', 'null'], description: 'What signs deliveries; it is shown this once.' },
  })
  const told = enveloped(secret, named('write_meta'))
  return {
    create: { ...made, answers: [created(told)] },
    rotate: {
      ...{ id: 'webhook_rotate', summary: 'Gives a webhook a new secret.', tag, ifMatch: true },
      body: {
        schema: bodyOf({ overlap_hours: { type: ['integer', 'null'], minimum: 0, maximum: 168 } }, []),
        isOptional: true,
      },
      answers: [ok('The webhook with its new secret.', told, ['etag'])],
      refuses: ['record_not_found', 'validation_failed', 'version_conflict'],
    },
  }
}

const sendingAbouts: Abouts<'test' | 'replay' | 'replayDelivery'> = {
  test: {
    ...{ id: 'webhook_test', summary: 'Sends a webhook a test, and says how that went.', tag },
    answers: [ok('The delivery.', delivery)],
    refuses: ['record_not_found'],
  },
  replay: {
    ...{ id: 'webhook_replay', summary: 'Sends a webhook all events after one again.', tag },
    body: { schema: bodyOf({ after: whole }, ['after']) },
    answers: [
      ok(
        'They are sent from now on.',
        enveloped({
          type: 'object',
          properties: { id: whole, after: whole, last: whole },
          required: ['id', 'after', 'last'],
        }),
      ),
    ],
    refuses: ['record_not_found', 'validation_failed'],
  },
  replayDelivery: {
    ...{ id: 'webhook_replay_delivery', summary: 'Sends one delivery again.', tag },
    answers: [ok('The delivery, which waits.', delivery)],
    refuses: ['record_not_found', 'validation_failed'],
  },
}

const logAbout: About = {
  ...{ id: 'webhook_deliveries', summary: 'Lists what was delivered to a webhook.', tag },
  parameters: ['delivery_state', 'delivery_size', 'cursor'],
  answers: [
    ok(
      'Deliveries, those of the newest events first.',
      enveloped(
        { type: 'array', items: named('delivery') },
        {
          type: 'object',
          properties: {
            pageSize: { type: 'integer' },
            hasMore: { type: 'boolean' },
            nextCursor: { type: ['string', 'null'] },
          },
          required: ['pageSize', 'hasMore', 'nextCursor'],
        },
        true,
      ),
    ),
  ],
  refuses: ['record_not_found'],
}

function bodyOf(properties: object, required: readonly string[]) {
  return { type: 'object', properties, required, additionalProperties: false }
}
