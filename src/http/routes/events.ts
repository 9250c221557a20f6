/**
 * The history of records and the feed over HTTP (D70, D71). A request that waits releases its place in the
 * quota of requests, and its rights are checked again before each read of events.
 */
import { Readable } from 'node:stream'
import type { AuthenticatedCaller, Callers } from '../../accounts/callers.ts'
import { type FeedPage, readFeed } from '../../history/feed.ts'
import { readHistory, readHistoryQuery } from '../../history/history.ts'
import { type FeedRequest, readFeedQuery } from '../../history/query.ts'
import type { Subscribers } from '../../history/subscribers.ts'
import type { Transaction } from '../../records/store.ts'
import { followScope } from '../../rights/scopes.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import { allowed } from '../admission.ts'
import { type Answer, okAnswer } from '../answer.ts'
import { type ApiRequest, idOf, schemaOf } from '../request.ts'
import type { Handler } from '../route.ts'

export type EventService = {
  readonly db: Transaction
  readonly callers: Callers
  readonly subscribers: Subscribers
}

/** Interval of heartbeat comments in a stream. */
const commentEveryMs = 15_000
/** Interval of checks of a subscriber's rights. */
const askAgainMs = 1000

/** GET /{resource}/{id}/history */
export function historyHandler(db: Transaction, resource: string, retentionDays: number): Handler {
  return async request => {
    const asked = readHistoryQuery(request.query)
    const schema = schemaOf(request, resource)
    const oldest = oldestKept(request.now, retentionDays)
    const page = await readHistory(db, schema, request.caller, idOf(request), oldest, asked)
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
  return subscriptionOf(request, allowed(await callers.identify(request.token), followScope))
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
  for (;;) {
    const page = await readFeed(db, caller, { ...asked, after })
    const left = until - performance.now()
    if (page.events.length > 0 || left <= 0 || signal.aborted || subscribers.isStopped) return page
    after = page.next
    if (page.next < page.last) continue
    request.release()
    await subscribers.wait(caller.catalog.account.id, page.last, Math.min(left, askAgainMs), signal)
    ;({ caller, asked } = await currentSubscription(service, request))
  }
}

/** The feed as server-sent events (the HTML standard, 9.2). `Last-Event-ID` wins over `after`. */
async function stream(service: EventService, request: ApiRequest, listening: Subscription): Promise<Answer> {
  const { caller, asked } = listening
  const after = request.lastEventId ?? asked.after
  // Refusals come before the stream begins.
  const first = await readFeed(service.db, caller, { ...asked, after })
  request.release()
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: Readable.from(told(service, request, first), { objectMode: false }),
  }
}

/** The text of a stream, until the client hangs up, its rights end, or the process stops. */
async function* told(service: EventService, request: ApiRequest, first: FeedPage): AsyncGenerator<string> {
  const signal = request.hungUp()
  let page = first
  let saidAt = performance.now()
  for (;;) {
    for (const { seq, type, text } of page.events) yield `id: ${seq}\nevent: ${type}\ndata: ${text}\n\n`
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
    } catch {
      // The client reconnects, and gets the refusal.
      return
    }
  }
}
