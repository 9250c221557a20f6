/** What the routes of history and feed are, for the OpenAPI document (D70, D71, D90). */
import { type About, enveloped, named, ok } from '../openapi/about.ts'

/** GET /{resource}/{id}/history */
export function historyAbout(resource: string, words: string): About {
  const meta = {
    type: 'object',
    properties: {
      pageSize: { type: 'integer' },
      hasMore: { type: 'boolean' },
      nextCursor: { type: ['string', 'null'] },
    },
    required: ['pageSize', 'hasMore', 'nextCursor'],
  }
  const data = { type: 'array', items: named('event') }
  return {
    ...{ id: `${resource}_history`, summary: `Tells who changed what of a ${words}.`, tag: resource },
    parameters: ['pageSize', 'cursor'],
    answers: [ok('The events, the newest first.', enveloped(data, meta, true))],
    refuses: ['record_not_found'],
  }
}

/** GET /event */
export const feedAbout: About = {
  ...{ id: 'event_list', summary: 'Follows all changes, in the order of their commits.', tag: 'event' },
  parameters: ['event_after', 'event_limit', 'event_resource', 'event_type', 'event_wait', 'event_record'],
  answers: [
    {
      ...ok(
        'The events, the oldest first.',
        enveloped(
          { type: 'array', items: named('feed_event') },
          {
            type: 'object',
            properties: {
              last: { type: 'integer' },
              next: { type: 'integer' },
              hasMore: { type: 'boolean' },
            },
            required: ['last', 'next', 'hasMore'],
          },
          true,
        ),
      ),
      isStreamed: true,
    },
  ],
  refuses: ['malformed_request', 'events_gone'],
}
