/** The routes of events: histories, the feed, and undo (D70, D71, D83). */
import type { Database } from '../../db/open.ts'
import type { Schema } from '../../fields/field.ts'
import { arrayOf, schemaRef } from '../../fields/kinds/schemas.ts'
import { undo } from '../../history/undo.ts'
import type { Transaction } from '../../records/store.ts'
import { followScope } from '../../rights/scopes.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { recordAnswer } from '../answer.ts'
import { cursorPageMeta, dryRunParameter, envelope, ok } from '../openapi/operation.ts'
import { readParameters } from '../parameters.ts'
import { contextOf, idOf, preconditionOf } from '../request.ts'
import { type AccountRoute, base, type Readable, route } from '../route.ts'
import { withDryRun } from './dry-run.ts'
import { type EventService, feedHandler, historyHandler } from './events.ts'

/** GET /{resource}/{id}/history. `noun`: a record with its article. */
export function historyRoute(
  db: Transaction,
  resource: Readable,
  noun: string,
  retentionDays: number,
): AccountRoute {
  const handler = historyHandler(db, resource, retentionDays)
  const data = arrayOf(schemaRef('event'))
  return route('GET', `${base}/${resource}/:id/history`, `${resource}:read`, handler, {
    ...{ id: `${resource}_history`, summary: `Tells who changed what of ${noun}.`, tag: resource },
    parameters: ['pageSize', 'cursor', 'event_origin'],
    responses: [ok('The events, the newest first.', envelope(data, cursorPageMeta, true))],
    errors: ['record_not_found'],
  })
}

export function feedRoute(service: EventService): AccountRoute {
  const data = arrayOf(schemaRef('feed_event'))
  const meta = {
    type: 'object',
    properties: { last: { type: 'integer' }, next: { type: 'integer' }, hasMore: { type: 'boolean' } },
    required: ['last', 'next', 'hasMore'],
  }
  return {
    ...route('GET', `${base}/event`, followScope, feedHandler(service), {
      ...{ id: 'event_list', summary: 'Follows all changes, in the order of their commits.', tag: 'event' },
      parameters: [
        ...[
          'event_after',
          'event_limit',
          'event_resource',
          'event_type',
          'event_wait',
          'event_record',
          'event_origin',
        ],
      ],
      responses: [{ ...ok('The events, the oldest first.', envelope(data, meta, true)), isStreamed: true }],
      errors: ['malformed_request', 'events_gone'],
    }),
    isStreamed: true,
  }
}

/** The event names the record's resource. */
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

/** The event must be read before its resource, and so the required scope, is known. */
export function undoRoute(db: Database, retentionDays: number): AccountRoute {
  const handlers = withDryRun(db, db => ({
    undo: async request => {
      const precondition = preconditionOf(request)
      readParameters(request.query, [], [])
      const oldest = oldestKept(request.now, retentionDays)
      return recordAnswer(await undo(db, idOf(request), contextOf(request), precondition, oldest))
    },
  }))
  return route('POST', `${base}/event/:id/undo`, 'any', handlers.undo, {
    ...{ id: 'event_undo', summary: 'Undoes a change, if nobody has changed the same since.', tag: 'event' },
    description:
      'What it wrote is written back: a creation is undone by a deletion, a deletion by a restoration. It is a change of its own, so it can be undone too. It takes the scope to write the resource of the event.',
    parameters: dryRunParameter,
    responses: [
      ok(
        'The record as it is now; of a creation or restoration that is undone, as it was deleted.',
        envelope(anyRecord, schemaRef('write_meta')),
        ['etag'],
      ),
    ],
    errors: [
      ...(['record_not_found', 'events_gone', 'not_undoable', 'changed_since'] as const),
      ...(['validation_failed', 'duplicate', 'in_use'] as const),
    ],
    takesKey: true,
    ifMatch: true,
  })
}
