/** What the routes of history and feed are, for the OpenAPI document (D70, D71, D90). */
import type { Schema } from '../fields/field.ts'
import { type About, enveloped, named, ok, tried } from '../openapi/about.ts'

/** GET /{resource}/{id}/history */
export function historyAbout(resource: string, record: string): About {
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
    ...{ id: `${resource}_history`, summary: `Tells who changed what of ${record}.`, tag: resource },
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

/** Of which resource it is, the event says. */
const anyRecord: Schema = {
  type: 'object',
  description: 'A record, with the members of its resource.',
  properties: {
    id: { type: 'integer' },
    version: { type: 'integer' },
    deleted_at: { type: ['string', 'null'], format: 'date-time' },
  },
  required: ['id', 'version', 'deleted_at'],
  additionalProperties: true,
}

/** POST /event/{id}/undo */
export const undoAbout: About = {
  ...{
    id: 'event_undo',
    summary: 'Undoes a change, if nobody has changed the same since.',
    tag: 'event',
    parameters: tried,
  },
  description:
    'What it wrote is written back: a creation is undone by a deletion, a deletion by a restoration. It is a change of its own, so it can be undone too. It takes the scope to write the resource of the event.',
  answers: [
    ok(
      'The record as it is now; of a creation or restoration that is undone, as it was deleted.',
      enveloped(anyRecord, named('write_meta')),
      ['etag'],
    ),
  ],
  refuses: [
    ...(['record_not_found', 'events_gone', 'not_undoable', 'changed_since'] as const),
    ...(['validation_failed', 'duplicate', 'in_use', 'version_conflict'] as const),
  ],
  takesKey: true,
  ifMatch: true,
}
