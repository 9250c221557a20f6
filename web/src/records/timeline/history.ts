/** The history of a record, newest first: its changes, and the activities about it. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type AnyRecord, api, base, callApi, type Field, type Named } from '../../api/api.ts'
import { expandable } from '../../api/queries.ts'
import type { StageChange } from '../record/stage-times.ts'
import type { Actor } from './actor.ts'

export type Change = {
  readonly field: string
  readonly label: string
  readonly from: unknown
  readonly to: unknown
  readonly from_name?: string | readonly (string | null)[] | null
  readonly to_name?: string | readonly (string | null)[] | null
}

export type Event = {
  readonly seq: number
  readonly type: string
  readonly also: readonly string[]
  readonly version: number
  readonly at: string
  readonly actor: Actor
  readonly changes: readonly Change[]
}

type Answer = { readonly data: readonly Event[]; readonly meta: { readonly nextCursor: string | null } }

export const historyQuery = (resource: string, id: number) =>
  infiniteQueryOptions({
    queryKey: ['record', resource, id, 'history'],
    queryFn: async ({ pageParam, signal }) => {
      const query = { pageSize: 30, ...(pageParam ? { cursor: pageParam } : {}) }
      const { body } = await api.request('GET', `${base}/${resource}/${id}/history`, { query, signal })
      return body as Answer
    },
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.nextCursor,
  })

/**
 * Limit of the pages of history that are read; the time before them counts for the stage that it ended in.
 */
const pagesMax = 5

/** The changes of a deal's stage, the newest first. */
export const stageChangesQuery = ({ id, version }: AnyRecord) =>
  queryOptions({
    queryKey: ['record', 'deal', id, 'stages'],
    queryFn: async ({ signal }) => {
      const found: StageChange[] = []
      let cursor: string | null = null
      for (let page = 0; page < pagesMax && (page === 0 || cursor); page++) {
        const query = { pageSize: 500, ...(cursor ? { cursor } : {}) }
        const { body } = await api.request('GET', `${base}/deal/${id}/history`, { query, signal })
        const { data, meta } = body as { data: readonly Event[]; meta: { nextCursor: string | null } }
        found.push(...data.flatMap(changesOf))
        cursor = meta.nextCursor
      }
      return found
    },
    // A deal without changes is still in its first stage.
    enabled: version !== 1,
  })

function changesOf({ type, at, changes }: Event): StageChange[] {
  if (type !== 'deal.updated') return []
  const change = changes.find(({ field }) => field === 'pipeline_stage')
  return change ? [{ at, from: change.from as number, to: change.to as number }] : []
}

/** The field of an activity that refers to a record of the resource; null if there is none. */
export function subjectField(activityFields: readonly Field[], resource: string): string | null {
  const found = activityFields.find(
    field => field.related_field?.source === resource && !field.is_read_only && !field.is_custom,
  )
  return found?.internal_name ?? null
}

const activitiesAtOnce = 100

/**
 * The activities about a record with the names behind their ids: the done ones, the last first, or those that
 * are still to be done.
 */
export const activitiesQuery = (
  resource: string,
  id: number,
  sections: readonly (readonly Field[])[],
  isDone: boolean,
) => {
  const about = subjectField(sections.flat(), resource)
  const has = (name: string) => sections.flat().some(({ internal_name }) => internal_name === name)
  // Without the field all activities are as if they were still to be done.
  const isOfBoth = !has('done_at')
  const openFirst = has('due_at') ? 'due_at:asc' : 'created_at:desc'
  return infiniteQueryOptions({
    queryKey: ['list', 'activity', 'about', resource, id, isDone],
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        filter: isOfBoth ? `${about}:eq(${id})` : `${about}:eq(${id}),done_at:isnull(${!isDone})`,
        sort: isDone ? 'done_at:desc' : openFirst,
        page: pageParam,
        pageSize: activitiesAtOnce,
        count: 'none',
        expand: expandable(sections),
      }
      return callApi<AnyRecord[]>('GET', '/activity/view/list', { query, signal })
    },
    initialPageParam: 1,
    getNextPageParam: (last, _all, page) => (last.length < activitiesAtOnce ? null : page + 1),
    enabled: about !== null && !(isDone && isOfBoth),
  })
}

export type Entry =
  | { readonly at: string; readonly key: string; readonly event: Event }
  | { readonly at: string; readonly key: string; readonly activity: AnyRecord }

/** Both in one order, as far as both are loaded: what is older of one waits for the other. */
export function merged(
  { events, isWhole }: { events: readonly Event[]; isWhole: boolean },
  { done, isAll }: { done: readonly AnyRecord[]; isAll: boolean },
): Entry[] {
  const oldestEvent = isWhole ? '' : (events.at(-1)?.at ?? '')
  const oldestDone = isAll ? '' : String(done.at(-1)?.done_at ?? '')
  const oldest = oldestEvent > oldestDone ? oldestEvent : oldestDone
  const entries: Entry[] = [
    ...events.map(event => ({ at: event.at, key: `e${event.seq}`, event })),
    ...done.map(activity => ({ at: String(activity.done_at), key: `a${activity.id}`, activity })),
  ].filter(({ at }) => at >= oldest)
  return entries.sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0))
}

/** The names that an event has for the ids of a change. */
export function changeNames(value: unknown, name: Change['to_name']): Named | Named[] | null {
  if (name === null || name === undefined) return null
  if (Array.isArray(value)) {
    return value.map((id, at) => ({ id, name: Array.isArray(name) ? (name[at] ?? null) : null }))
  }
  return { id: value as number, name: String(name) }
}
