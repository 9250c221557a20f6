/** The caller's inbox (D156): its queries, and the marks of items, which all pages of a browser share. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, base, callApi, errorMessage, type Schemas } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { toastError } from '../ui/toast.tsx'

export type Item = Schemas['inbox_item']
export type Kind = Item['kind']
type Page = { readonly data: readonly Item[]; readonly meta: Schemas['inbox_meta'] }

export const kinds: readonly { readonly id: Kind; readonly name: string; readonly about: string }[] = [
  { id: 'mention', name: 'Mentions', about: 'Somebody writes @ and your name in a note.' },
  { id: 'assignment', name: 'Assigned', about: 'Somebody makes you the owner of a deal or an activity.' },
  { id: 'due', name: 'Due', about: 'An activity of yours is due, or reminds you.' },
  { id: 'rotting', name: 'Rotting', about: 'Nothing has happened with a deal of yours for too long.' },
  { id: 'job', name: 'Failed jobs', about: 'An import or a bulk change of yours has failed.' },
]

const pageSize = 50
/** How often a page asks that does not follow the feed, and one that does. */
const [unfedMs, fedMs] = [15_000, 60_000]

async function readPage(query: { [name: string]: string | number }, signal?: AbortSignal): Promise<Page> {
  const { body } = await api.request('GET', `${base}/inbox`, { query, signal })
  return body as Page
}

/** How many items are unread, and the reminders. */
export const headQuery = (isFed: boolean) =>
  queryOptions({
    queryKey: ['inbox', 'head'],
    queryFn: async ({ signal }) => (await readPage({ pageSize: 1 }, signal)).meta,
    refetchInterval: isFed ? fedMs : unfedMs,
  })

export const itemsQuery = (kind: string | undefined, isUnread: boolean) =>
  infiniteQueryOptions({
    queryKey: ['inbox', 'items', kind, isUnread],
    queryFn: ({ pageParam, signal }) => {
      const chosen = { ...(kind ? { kind } : {}), ...(isUnread ? { unread: '1' } : {}) }
      return readPage({ pageSize, ...chosen, ...(pageParam ? { cursor: pageParam } : {}) }, signal)
    },
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.nextCursor ?? undefined,
  })

type Which = { readonly ids: readonly string[] } | { readonly until: string }

/** Marks items. A failure is shown, and changes nothing. */
export async function mark(
  which: Which,
  to: 'read' | 'unread' | 'snoozed',
  minutes?: number,
): Promise<boolean> {
  try {
    await callApi('POST', '/inbox/mark', { body: { ...which, to, ...(minutes ? { minutes } : {}) } })
    await sayMarked()
    return true
  } catch (error) {
    toastError(errorMessage(error))
    return false
  }
}

/** Marks as read all of a kind that came until `newest`: for one kind the service takes ids. */
async function markKind(kind: string, newest: string): Promise<void> {
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined; ) {
    const asked = { pageSize: 100, kind, unread: '1', ...(cursor ? { cursor } : {}) }
    const { data, meta }: Page = await readPage(asked)
    const ids = data.filter(({ at }) => at <= newest).map(({ id }) => id)
    if (ids.length > 0) await callApi('POST', '/inbox/mark', { body: { ids, to: 'read' } })
    cursor = meta.nextCursor
  }
}

/**
 * Marks as read what the page lists: what arrives meanwhile stays unread. `newest`: when the first listed
 * item came, by the clock of the service, as that of the browser may be wrong.
 */
export async function markListed(kind: string | undefined, newest: string): Promise<void> {
  // The service may have a part of a millisecond that the answer lacks.
  if (!kind) return void (await mark({ until: new Date(Date.parse(newest) + 1).toISOString() }, 'read'))
  await markKind(kind, newest).catch(error => toastError(errorMessage(error)))
  await sayMarked()
}

/** Reads the inbox again, here and in the other pages. */
function sayMarked(): Promise<unknown> {
  others.postMessage('marked')
  return askAgain()
}

export const askAgain = (): Promise<unknown> => queryClient.invalidateQueries({ queryKey: ['inbox'] })

/** The other pages of this browser. */
const others = new BroadcastChannel('dealwright-inbox')
others.onmessage = () => void askAgain()

/** The page where an item is dealt with: a mention where the note is in the timeline. */
export function placeOf({ kind, record, about }: Item): { resource: string; id: number } {
  return kind === 'mention' && about ? about : record
}

const quoted = (name: string | null, without: string) => (name ? `“${name}”` : without)

/** An item in a sentence. `now` is a moment. */
export function textOf({ kind, record, actor, count, due }: Item, now: string): string {
  const who = actor?.name ?? 'Somebody'
  switch (kind) {
    case 'mention':
      return `${who} mentioned you in ${quoted(record.name, 'a note')}`
    case 'assignment':
      return count > 1
        ? `${who} gave you ${count} ${record.resource === 'deal' ? 'deals' : 'activities'}, such as ${quoted(record.name, 'one')}`
        : `${who} gave you ${quoted(record.name, 'a record')}`
    case 'due':
      return `${due && due > now ? 'Soon' : 'Due'}: ${quoted(record.name, 'an activity')}`
    case 'rotting':
      return `Nothing has happened with ${quoted(record.name, 'a deal')} for too long`
    case 'job':
      return `The job ${quoted(record.name, `no. ${record.id}`)} has failed`
  }
}
