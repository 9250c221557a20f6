/** The shared queries of the pages. A key begins with the part that a change invalidates. */
import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  QueryClient,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import {
  type AnyRecord,
  api,
  base,
  callApi,
  type Field,
  isSignedOut,
  type Me,
  type Named,
  type Page,
  sessionEnded,
} from './api.ts'
import { rememberLabels } from './problem-text.ts'
import type { StageKind } from './stage-kind.ts'

const minute = 60_000

/**
 * A query that is invalidated during its first request is refetched after it: the answer may be outdated, and
 * TanStack Query would take it for the newest.
 */
class Client extends QueryClient {
  override async invalidateQueries<K extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<K>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const first = this.getQueryCache()
      .findAll({ ...filters, fetchStatus: 'fetching' } as InvalidateQueryFilters)
      .filter(({ state }) => state.data === undefined)
    const again = first.map(({ promise, queryKey }) =>
      promise?.then(
        () => super.invalidateQueries({ queryKey, exact: true }),
        () => {},
      ),
    )
    await Promise.all([super.invalidateQueries(filters, options), ...again])
  }
}

export const queryClient = new Client({
  defaultOptions: {
    // The client has already retried. The feed reports changes (live.ts).
    queries: {
      retry: false,
      staleTime: minute,
      gcTime: 10 * minute,
      refetchOnWindowFocus: true,
      // Offline a request fails at once, and the page says so: one that waits shows nothing.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { retry: false },
  },
})

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => callApi<Me>('GET', '/me'),
  staleTime: 5 * minute,
})

/** The time zone in which dates are shown, and which says what day it is. */
export const zoneOf = ({ user, account }: Me): string => user.time_zone ?? account.time_zone

/** The signed-in caller; null if nobody is signed in. */
export async function fetchMe(): Promise<Me | null> {
  try {
    // After the end of a session, cached data are invalid.
    if (sessionEnded.get()) return await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
    return await queryClient.ensureQueryData(meQuery)
  } catch (error) {
    if (isSignedOut(error)) return null
    throw error
  }
}

/** The sections of a resource's form, each with its fields in order. */
export const fieldsQuery = (source: string) =>
  queryOptions({
    queryKey: ['fields', source],
    queryFn: async () => {
      const { fields } = await callApi<{ fields: Field[][] }>('GET', '/field/list', { query: { source } })
      rememberLabels(source, fields.flat())
      return fields
    },
    staleTime: 10 * minute,
  })

export type Pipeline = AnyRecord & {
  name: string
  position: number
  is_default: number
  card_fields: readonly string[]
}
export type Stage = AnyRecord & {
  name: string
  pipeline: number
  position: number
  probability: number
  kind: StageKind
  rotting_days: number | null
}

/** All records of a list, page by page. */
export async function readAll<T>(resource: string, query: { readonly [name: string]: string }): Promise<T[]> {
  const found: T[] = []
  for (let cursor: string | undefined; ; ) {
    const all = { ...query, pageSize: 500, count: 'none', ...(cursor ? { cursor } : {}) }
    const { body } = await api.request('GET', `${base}/${resource}/view/list`, { query: all })
    const { data, meta } = body as Page<T>
    found.push(...data)
    if (!meta.nextCursor) return found
    cursor = meta.nextCursor
  }
}

/** All records of a small resource, such as pipelines and tags. */
export const allQuery = <T extends AnyRecord>(resource: string, sort = 'id:asc') =>
  queryOptions({
    queryKey: ['all', resource, sort],
    queryFn: () => readAll<T>(resource, { sort }),
    staleTime: 10 * minute,
  })

export const pipelinesQuery = allQuery<Pipeline>('pipeline', 'position:asc')
export const stagesQuery = allQuery<Stage>('pipeline_stage', 'position:asc')
export const currenciesQuery = allQuery<AnyRecord & { code: string; name: string }>('currency')
export const usersQuery = allQuery<AnyRecord & { name: string; email: string; is_active: boolean }>(
  'user',
  'name:asc',
)

/** That in which new deals begin: the default one, or else the first. */
export function defaultPipeline(pipelines: readonly Pipeline[]): Pipeline | undefined {
  return pipelines.find(({ is_default }) => is_default === 1) ?? pipelines[0]
}

export type Option = Named & { position: number; is_active: boolean; is_default: boolean }

/** The options that a dropdown offers. */
export const optionsQuery = (source: string, name: string) =>
  queryOptions({
    queryKey: ['options', source, name],
    queryFn: () => callApi<Option[]>('GET', '/field/dropdown', { query: { source, name } }),
    staleTime: 10 * minute,
  })

export type ListRequest = {
  readonly filter?: string
  readonly sort?: string
  readonly fields?: string
  readonly expand?: string
  readonly deleted?: 'only'
  /** the total is not needed, which would have to be counted */
  readonly count?: 'none'
}

/** One page of a list, for the table and the board. */
export const pageQuery = (resource: string, request: ListRequest, page: number, pageSize: number) =>
  queryOptions({
    queryKey: ['list', resource, request, pageSize, page],
    queryFn: async ({ signal }) => {
      const query = { ...request, page, pageSize }
      const { body } = await api.request('GET', `/rest/api/v1/${resource}/view/list`, { query, signal })
      return body as Page<AnyRecord>
    },
  })

/** A record with the names behind its ids. */
export const recordQuery = (resource: string, id: number, expand: string) =>
  queryOptions({
    queryKey: ['record', resource, id, expand],
    queryFn: () => callApi<AnyRecord>('GET', `/${resource}/${id}`, { query: expand ? { expand } : {} }),
  })

/** Names need the read scope of their resource (D65); without it, ids are shown. */
export function mayRead(resource: string): boolean {
  const scopes = queryClient.getQueryData(meQuery.queryKey)?.scopes ?? []
  return scopes.includes('admin') || scopes.includes(`${resource}:read`)
}

/** True if a field supports `expand`; without the right to read what it points to, ids are shown. */
export function isExpandable({ is_expandable, related_field }: Field): boolean {
  return is_expandable && (!related_field || mayRead(related_field.source))
}

/** The names of the fields that support `expand`. */
export function expandable(sections: readonly (readonly Field[])[]): string {
  return sections
    .flat()
    .filter(isExpandable)
    .map(({ internal_name }) => internal_name)
    .join(',')
}

/** resource → the resources whose records show the name of one */
const namedIn: { readonly [resource: string]: readonly string[] } = {
  company: ['contact', 'deal', 'activity'],
  contact: ['deal', 'activity'],
  product: ['deal'],
  deal: ['activity'],
}
const nameFields: readonly string[] = ['name', 'title', 'first_name', 'last_name']

/**
 * Refetches the queries that show records of a resource, or their names; `but` already shows the change.
 * `fields` were changed, any if that is not known.
 */
export function refresh(
  resource: string,
  but?: 'list' | 'board',
  fields: readonly string[] = nameFields,
): Promise<unknown> {
  const all = [['list', resource], ['record', resource], ['all', resource], ['board'], ['sums', resource]]
  const isNamed = but !== 'board' && fields.some(field => nameFields.includes(field))
  const related = (isNamed && namedIn[resource]) || []
  const keys = [
    ...all.filter(([what]) => what !== but),
    ...related.flatMap(other => ['list', 'record', 'sums'].map(what => [what, other])),
  ]
  // A card is moved by one request. The inbox, where its deal may have been as rotting, is read later.
  const refetchType = but === 'board' ? 'none' : 'active'
  const isOfInbox = resource === 'deal' || resource === 'activity'
  if (isOfInbox) void queryClient.invalidateQueries({ queryKey: ['inbox'], refetchType })
  return Promise.all(keys.map(queryKey => queryClient.invalidateQueries({ queryKey })))
}
