/** Changes by agents today: the events of the feed, grouped by the change that they belong to. */
import { queryOptions } from '@tanstack/react-query'
import { api, base, callApi } from '../../api/api.ts'
import type { Formats } from '../../format/format.ts'
import { manyOf } from '../../jobs/job.ts'

export type AgentEvent = {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly resource: string
  readonly id: number
  readonly actor: { readonly token?: { readonly id: number } | null; readonly request_id: string | null }
}

/** All events that an agent wrote with one request. */
export type AgentChange = {
  readonly id: string
  readonly at: string
  /** the oldest first */
  readonly events: readonly AgentEvent[]
}

/** So many of the last events are looked through; earlier ones of a very busy day are left out. */
const lookedThrough = 10_000

/** By the reader's day. */
export const todayQuery = ({ dateOf, today }: Formats) =>
  queryOptions({
    queryKey: ['agents', 'today'],
    queryFn: async ({ signal }) => {
      const read = async (query: { after: number; limit: number; origin?: 'mcp' }) => {
        const { body } = await api.request('GET', `${base}/event`, { query, signal })
        return body as { data: readonly AgentEvent[]; meta: { last: number; next: number } }
      }
      const { last } = (await read({ after: Number.MAX_SAFE_INTEGER, limit: 1 })).meta
      const found: AgentEvent[] = []
      for (let after = Math.max(0, last - lookedThrough); after < last; ) {
        const { data, meta } = await read({ after, limit: 1000, origin: 'mcp' })
        found.push(...data)
        if (meta.next <= after) break
        after = meta.next
      }
      return found.filter(({ at }) => dateOf(at) === today())
    },
  })

/** The changes by an agent's token, the newest first. */
export function changesToday(events: readonly AgentEvent[], token: number): AgentChange[] {
  const own = events.filter(({ actor }) => actor.token?.id === token)
  const changes = new Map<string, AgentEvent[]>()
  for (const event of own) {
    const id = event.actor.request_id ?? String(event.seq)
    changes.set(id, [...(changes.get(id) ?? []), event])
  }
  return [...changes].map(([id, all]) => ({ id, at: all[0]!.at, events: all })).reverse()
}

const verbs: { readonly [verb: string]: string } = {
  ...{ created: 'created', updated: 'changed', deleted: 'deleted', restored: 'restored' },
}

/** "Changed 5 deals, created 1 activity" */
export function changeText({ events }: AgentChange, { counted }: Formats): string {
  const kinds = Map.groupBy(events, ({ type }) => type)
  const parts = [...kinds].map(([type, of]) => {
    const [resource = '', verb = ''] = type.split('.')
    return `${verbs[verb] ?? verb} ${counted(of.length, resource, manyOf(resource))}`
  })
  const text = parts.join(', ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** The service takes so many events at a time. */
const undoneAtOnce = 2000

/** Undoes changes, the newest first; records that were changed since stay. */
export async function undoChanges(changes: readonly AgentChange[]): Promise<{ done: number; left: number }> {
  const all = changes.flatMap(change => change.events.map(({ seq }) => seq)).sort((one, other) => other - one)
  let done = 0
  for (let at = 0; at < all.length; at += undoneAtOnce) {
    const body = { events: all.slice(at, at + undoneAtOnce) }
    const results = await callApi<readonly { status: number }[]>('POST', '/event/undo', { body })
    done += results.filter(({ status }) => status < 400).length
  }
  return { done, left: all.length - done }
}
