/**
 * Live updates: others' changes arrive by the account's feed (D71). One page of a browser follows it and
 * forwards it to the others: a browser has few connections for a service. Users without the scope see changes
 * when they return to the page.
 */
import { useEffect } from 'react'
import { api, base, DealwrightError, isOwnWrite, type Schemas } from '../api/api.ts'
import { queryClient, refresh } from '../api/queries.ts'
import { onOtherUser } from './me.ts'

type FeedEvent = Schemas['feed_event']

const types = ['created', 'updated', 'deleted', 'restored', 'purged']
const records = ['deal', 'product', 'contact', 'company', 'activity']
/** Configuration: a change refetches everything. */
const settings = [
  'user',
  'role',
  'territory',
  'tag',
  'pipeline',
  'pipeline_stage',
  'currency',
  'field',
  'option',
  'form',
  'view',
]

const [soonMs, mostMs] = [400, 10_000]
/** delay of a retry of the feed */
const againMs = 10_000
/** resource → the fields that others have changed, since it was refetched */
const stale = new Map<string, Set<string>>()
let isWaiting = false
let waitMs = soonMs
let readAt = Number.NEGATIVE_INFINITY

/** `seq` of the newest received event. */
let heard = 0
// Each account counts its own.
onOtherUser(() => {
  heard = 0
})

/** The position of the feed before the page loaded its data, and the channel to other pages. */
let listening: { readonly last: Promise<number>; readonly channel: BroadcastChannel } | null = null

/** To be called before any data is loaded: later changes are received. */
export function listen(): void {
  if (listening) return
  const channel = new BroadcastChannel('dealwright-events')
  channel.onmessage = ({ data }) => void noteEvent(data as FeedEvent)
  const last = position()
  // `follow` handles the error.
  last.catch(() => {})
  listening = { last, channel }
}

/** The current position of the feed. */
async function position(): Promise<number> {
  const { body } = await api.request('GET', `${base}/event`, { query: { limit: 1 } })
  const { last } = (body as { meta: { last: number } }).meta
  api.atLeast(last)
  return last
}

/** Notes changes of others. While they keep coming, as from an import, pages are refetched less often. */
async function noteEvent(event: FeedEvent): Promise<void> {
  heard = Math.max(heard, event.seq)
  // The reads that follow from it may not be older.
  api.atLeast(event.seq)
  if (await isOwnWrite(event.actor.request_id)) return
  noteStale(event.resource, event.type.endsWith('.updated') ? event.changes : [])
  // Deals count their activities, and have the next one (D73).
  if (event.resource === 'activity') noteStale('deal', [])
  if (isWaiting) return
  isWaiting = true
  const isGoingOn = performance.now() - readAt < 2 * waitMs
  waitMs = isGoingOn ? Math.min(2 * waitMs, mostMs) : soonMs
  setTimeout(() => {
    isWaiting = false
    readAt = performance.now()
    const changed = [...stale]
    stale.clear()
    if (changed.some(([resource]) => settings.includes(resource))) void queryClient.invalidateQueries()
    else for (const [resource, fields] of changed) void refresh(resource, undefined, [...fields])
  }, waitMs)
}

function noteStale(resource: string, changes: FeedEvent['changes']): void {
  const fields = stale.get(resource) ?? new Set()
  for (const { field } of changes) fields.add(field)
  stale.set(resource, fields)
}

/** Follows the feed while a user with the scope is signed in. */
export function useLive(isAllowed: boolean): void {
  useEffect(() => {
    if (!isAllowed) return
    listen()
    const { last, channel } = listening!
    const end = new AbortController()
    const lead = async () => {
      const broadcast = (event: FeedEvent) => {
        void noteEvent(event)
        channel.postMessage(event)
      }
      let from: Promise<number> | null = last
      while ((await follow(broadcast, end.signal, from)) === 'failed') {
        await pause(againMs, end.signal)
        from = null
      }
    }
    if (navigator.locks)
      navigator.locks.request('dealwright-events', { signal: end.signal }, lead).catch(() => {})
    else void lead()
    return () => {
      end.abort()
      channel.close()
      listening = null
    }
  }, [isAllowed])
}

/**
 * Ends when the signal aborts, or when the feed ends: `failed` if it can be retried, as while the service
 * restarts. `last` is the position of the feed at page load; null: that was long ago.
 */
async function follow(
  onEvent: (event: FeedEvent) => void,
  signal: AbortSignal,
  last: Promise<number> | null,
): Promise<'failed' | 'ended'> {
  let after: number
  try {
    // Another page may have followed the feed until now, and forwarded its events.
    after = last ? Math.max(await last, heard) : await position()
  } catch (error) {
    const isRefused = error instanceof DealwrightError && [401, 403].includes(error.status)
    return isRefused || signal.aborted ? 'ended' : 'failed'
  }
  if (signal.aborted) return 'ended'
  // Events in between were missed.
  if (!last) void queryClient.invalidateQueries()
  return new Promise(resolve => {
    const source = new EventSource(`${base}/event?after=${after}`)
    const stop = () => {
      source.close()
      signal.removeEventListener('abort', stop)
      resolve(signal.aborted ? 'ended' : 'failed')
    }
    signal.addEventListener('abort', stop)
    const names = [...records, ...settings].flatMap(resource => types.map(type => `${resource}.${type}`))
    for (const name of names)
      source.addEventListener(name, message => onEvent(JSON.parse((message as MessageEvent<string>).data)))
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) stop()
    }
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
