/**
 * Histories, the feed and undo over HTTP (D70, D71, D83). A request that waits releases its place in the
 * quota of requests, and its rights are checked again before each read of events.
 */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { AuthenticatedCaller, Callers } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import type { Schema } from '../../fields/field.ts'
import { arrayOf, flag, openObject, schemaRef, whole } from '../../fields/kinds/schemas.ts'
import { type FeedPage, readFeed } from '../../history/feed.ts'
import { readHistory, readHistoryQuery } from '../../history/history.ts'
import { type FeedRequest, readFeedQuery } from '../../history/query.ts'
import type { Subscribers } from '../../history/subscribers.ts'
import { undo } from '../../history/undo.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { followScope } from '../../rights/scopes.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { authorize } from '../admission.ts'
import { type Answer, okAnswer, recordAnswer } from '../answer.ts'
import { cursorPageMeta, dryRunParameter, envelope, ok } from '../openapi/operation.ts'
import { type ApiRequest, contextOf, idOf, preconditionOf } from '../request.ts'
import { type AccountRoute, base, type Handler, type Readable as ReadResource, route } from '../route.ts'
import { withDryRun } from './dry-run.ts'

/** GET /{resource}/{id}/history. `noun`: a record with its article. */
export function historyRoute(
  db: Transaction,
  resource: ReadResource,
  noun: string,
  retentionDays: number,
): AccountRoute {
  const handler = historyHandler(db, resource, retentionDays)
  const data = arrayOf(schemaRef('event'))
  return route('GET', `${base}/${resource}/:id/history`, `${resource}:read`, handler, {
    ...{
      id: `${resource}_history`,
      summary: `History of ${noun}: who changed what, newest first.`,
      tag: resource,
    },
    parameters: ['pageSize', 'cursor', 'event_origin'],
    responses: [ok('The events, the newest first.', envelope(data, cursorPageMeta, true))],
    errors: ['record_not_found'],
  })
}

export function feedRoute(service: EventService): AccountRoute {
  const data = arrayOf(schemaRef('feed_event'))
  const meta = openObject({ last: whole, next: whole, hasMore: flag })
  return {
    ...route('GET', `${base}/event`, followScope, feedHandler(service), {
      ...{ id: 'event_list', summary: 'Follows all changes, in the order of their commits.', tag: 'event' },
      parameters: [
        ...['event_after', 'event_limit', 'event_resource', 'event_type'],
        ...['event_wait', 'event_record', 'event_origin'],
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

export type EventService = {
  readonly db: Transaction
  readonly callers: Callers
  readonly subscribers: Subscribers
}

/** Interval of heartbeat comments in a stream. */
const commentEveryMs = 15_000
/** Interval of checks of a subscriber's rights. */
const askAgainMs = 1000
/** Shortest time between two reads of a request that others' writes have woken. */
const wokenEveryMs = 250

/** GET /{resource}/{id}/history */
export function historyHandler(db: Transaction, resource: string, retentionDays: number): Handler {
  return async request => {
    const asked = readHistoryQuery(request.query)
    const work = workOn(db, request.caller, resource)
    const page = await readHistory(work, idOf(request), oldestKept(request.now, retentionDays), asked)
    const { hasMore, nextCursor } = page
    return okAnswer(JSON.stringify(page.events), { pageSize: asked.pageSize, hasMore, nextCursor })
  }
}

/** GET /event */
export function feedHandler(service: EventService): Handler {
  return async request => {
    const listening = subscriptionOf(request, request.caller)
    if (request.wantsStream) return stream(service, request, listening)
    const { after, wait } = listening.asked
    return feedAnswer(await nextPage(service, request, listening, after, wait * 1000, request.hungUp()))
  }
}

function feedAnswer({ events, last, next }: FeedPage): Answer {
  const data = `[${events.map(({ text }) => text).join(',')}]`
  return okAnswer(data, { last, next, hasMore: next < last })
}

/** The subscriber's current rights, and the requested part of the feed. */
type Subscription = { readonly caller: AuthenticatedCaller; readonly asked: FeedRequest }

/** Throws the errors of `readFeedQuery`. */
function subscriptionOf({ query }: ApiRequest, caller: AuthenticatedCaller): Subscription {
  return { caller, asked: readFeedQuery(query, caller.catalog, caller.rights) }
}

/** Like `subscriptionOf`, with current rights. Throws also if the token or session has ended meanwhile. */
async function currentSubscription({ callers }: EventService, request: ApiRequest): Promise<Subscription> {
  return subscriptionOf(request, authorize(await callers.identify(request.token), followScope))
}

/** The next page with events; an empty one after a timeout. */
async function nextPage(
  service: EventService,
  request: ApiRequest,
  first: Subscription,
  start: number | null,
  milliseconds: number,
  signal: AbortSignal,
): Promise<FeedPage> {
  const { db, subscribers } = service
  const until = performance.now() + milliseconds
  let { caller, asked } = first
  let after = start
  for (let wakes = 0; ; wakes++) {
    const readAt = performance.now()
    const page = await readFeed(db, caller, { ...asked, after })
    const left = until - performance.now()
    if (page.events.length > 0 || left <= 0 || signal.aborted || subscribers.isStopped) return page
    after = page.next
    if (page.next < page.last) continue
    request.release()
    await subscribers.wait(caller.catalog.account.id, page.last, Math.min(left, askAgainMs), signal)
    // The first event is sent at once. A request that is woken by other events reads a few times a second.
    const rest = readAt + wokenEveryMs - performance.now()
    if (wakes > 0 && rest > 0) await setTimeout(rest, null, { signal }).catch(() => {})
    ;({ caller, asked } = await currentSubscription(service, request))
  }
}

/** The feed as server-sent events (the HTML standard, 9.2). `Last-Event-ID` wins over `after`. */
async function stream(service: EventService, request: ApiRequest, listening: Subscription): Promise<Answer> {
  const { caller, asked } = listening
  const after = request.lastEventId ?? asked.after
  // Refusals come before the stream begins, also that of a page for which there is no room.
  const first = await readFeed(service.db, caller, { ...asked, after })
  const release = holdPage(request, first)
  release()
  request.release()
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: Readable.from(told(service, request, first), { objectMode: false }),
  }
}

/** Reserves memory for a page until the client has read it. Throws `overloaded`. */
function holdPage({ reserveAnswer }: ApiRequest, { events }: FeedPage): () => void {
  return reserveAnswer(events.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0)) ?? (() => {})
}

function* textsOf({ events }: FeedPage, release: () => void): Generator<string> {
  try {
    for (const { seq, type, text } of events) yield `id: ${seq}\nevent: ${type}\ndata: ${text}\n\n`
  } finally {
    release()
  }
}

/** The text of a stream, until the client hangs up, its rights end, or the process stops. */
async function* told(service: EventService, request: ApiRequest, first: FeedPage): AsyncGenerator<string> {
  const signal = request.hungUp()
  let page = first
  let release = holdPage(request, page)
  let saidAt = performance.now()
  for (;;) {
    yield* textsOf(page, release)
    // The id lets a client that reconnects skip events that did not match.
    if (page.events.at(-1)?.seq !== page.next) yield `id: ${page.next}\n\n`
    const isQuiet = page.events.length === 0
    if (!isQuiet) saidAt = performance.now()
    else if (performance.now() - saidAt > commentEveryMs) {
      saidAt = performance.now()
      yield ': nothing new\n\n'
    }
    if (signal.aborted || service.subscribers.isStopped) return
    try {
      const listening = await currentSubscription(service, request)
      page = await nextPage(service, request, listening, page.next, askAgainMs, signal)
      release = holdPage(request, page)
    } catch {
      // The client reconnects, and gets the refusal.
      return
    }
  }
}
