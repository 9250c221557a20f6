/** POST /event/undo (D148): several events, or all that a request of an agent wrote. */
import type { Database } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import { arrayOf, closedObject, openObject, schemaRef, whole } from '../../fields/kinds/schemas.ts'
import { eventsMax, type Undoing, undoSeveral } from '../../history/undo-several.ts'
import { isObject } from '../../json.ts'
import { storedResponse, storeResponse } from '../../records/idempotency.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { okAnswer } from '../answer.ts'
import { dryRunParameter, envelope, ok } from '../openapi/operation.ts'
import { type ApiRequest, bodyOf, contextOf } from '../request.ts'
import { type AccountRoute, base, route } from '../route.ts'
import { withDryRun } from './dry-run.ts'

const requestIdMax = 128

const undoneEvent = openObject(
  {
    ...{ seq: whole, resource: { type: 'string' }, id: whole, status: whole, detail: { type: 'string' } },
    errors: arrayOf(schemaRef('problem_item')),
  },
  ['seq', 'status'],
)
const meta = openObject({ succeeded: whole, failed: whole, dryRun: { const: true } }, ['succeeded', 'failed'])
const body = {
  anyOf: [
    closedObject({ request_id: { type: 'string', minLength: 1, maxLength: requestIdMax } }, ['request_id']),
    closedObject(
      { events: { type: 'array', items: { ...whole, minimum: 1 }, minItems: 1, maxItems: eventsMax } },
      ['events'],
    ),
  ],
}

export function undoSeveralRoute(db: Database, retentionDays: number): AccountRoute {
  const handlers = withDryRun(db, db => ({
    undo: async request => {
      const context = contextOf(request)
      const before = await storedResponse(db, context)
      const undoing = undoingOf(request)
      // Each event has a key, too: a repeated request goes on where the first one ended. If nothing is
      // undone, the request keeps no key (D8).
      const onFirst = async () => {
        if (!before) await storeResponse(db, context, { row: {}, response: {} })
      }
      const oldest = oldestKept(request.now, retentionDays)
      const events = await undoSeveral(db, undoing, context, oldest, onFirst)
      const failed = events.filter(({ status }) => status >= 400).length
      return okAnswer(JSON.stringify(events), { succeeded: events.length - failed, failed })
    },
  }))
  return route('POST', `${base}/event/undo`, 'any', handlers.undo, {
    ...{
      id: 'event_undo_several',
      summary: 'Undoes several changes, each if nobody has changed the same since.',
    },
    ...{ tag: 'event', parameters: dryRunParameter, body: { schema: body }, takesKey: true },
    description:
      'Those of the events that are named, or all that an agent wrote under a request_id: the newest first, each as its own request would be. The answer has a status for each.',
    responses: [ok('What became of each.', envelope(arrayOf(undoneEvent), meta, true))],
    errors: ['record_not_found', 'validation_failed'],
  })
}

function undoingOf(request: ApiRequest): Undoing {
  const sent = bodyOf(request)
  const { request_id: id, events, ...others } = isObject(sent) ? sent : {}
  const isOne = Object.keys(others).length === 0 && (id === undefined) !== (events === undefined)
  if (isOne && typeof id === 'string' && id.length > 0 && id.length <= requestIdMax && !id.includes('\0'))
    return { request: id }
  if (
    isOne &&
    Array.isArray(events) &&
    events.length > 0 &&
    events.length <= eventsMax &&
    events.every(isSeq)
  )
    return { events: events as number[] }
  const message = `The body has either events, 1 to ${eventsMax} numbers of events, or request_id, a text of at most ${requestIdMax} characters.`
  throw new Refusal('validation_failed', 'Nothing was undone.', [
    { field: null, path: '', code: 'invalid_value', message },
  ])
}

function isSeq(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0
}
