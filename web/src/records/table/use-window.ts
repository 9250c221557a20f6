/**
 * The rows of a list for a table: any place of it, read in windows of a hundred. Rows that are still loading
 * are undefined; nothing else moves when they arrive.
 */
import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { type AnyRecord, api, base, type Page } from '../../api/api.ts'
import { type ListRequest, pageQuery } from '../../api/queries.ts'
import { useDebounced } from '../../ui/use-debounced.ts'
import { placeIn, type Section } from '../groups/grouping.ts'
import type { Groups } from '../groups/use-groups.ts'

const windowSize = 100
/** A numbered page skips at most 100 000 rows (D27). Every browser can draw an element of that height. */
export const rowsMax = 100_000

export type Total = { readonly count: number; readonly isEstimate: boolean }

export type Window = {
  readonly rowAt: (index: number) => AnyRecord | undefined
  /** the group of which a row is the header */
  readonly groupAt: (index: number) => Section | undefined
  /** error of reading rows in view */
  readonly error: unknown
  readonly retry: () => void
  readonly isFetching: boolean
}

const exactQuery = (resource: string, request: ListRequest) =>
  queryOptions({
    queryKey: ['list', resource, { ...request, sort: '', fields: 'id', expand: '' }, 'count'],
    queryFn: async ({ signal }) => {
      const { filter, deleted } = request
      const query = { filter, deleted, fields: 'id', pageSize: 1, count: 'exact' }
      const { body } = await api.request('GET', `${base}/${resource}/view/list`, { query, signal })
      return (body as Page<AnyRecord>).meta.total
    },
  })

/** Number of matching records, null until it is loaded; and the error of reading the first of them. */
export function useTotal(
  resource: string,
  request: ListRequest,
): { total: Total | null; error: unknown; retry: () => void } {
  const { data, error, refetch } = useQuery({
    ...pageQuery(resource, request, 1, windowSize),
    // Another order, or other columns: the number of matches stays.
    placeholderData: (before, query) => (isSameList(query?.queryKey, resource, request) ? before : undefined),
  })
  const exact = useQuery({
    ...exactQuery(resource, request),
    enabled: data?.meta.totalIsEstimate === true,
  })
  return { total: data ? totalOf(data, exact.data) : null, error, retry: () => void refetch() }
}

/** True if a query key is of the same records, in any order. */
function isSameList(key: readonly unknown[] | undefined, resource: string, request: ListRequest): boolean {
  const [, of, before] = (key ?? []) as [string?, string?, ListRequest?]
  return of === resource && before?.filter === request.filter && before?.deleted === request.deleted
}

/**
 * `first` and `last` are the rows in sight. The rows of a group are those of a list of its own, which is read
 * in windows, too.
 */
export function useWindow(
  resource: string,
  request: ListRequest,
  { first, last }: { first: number; last: number },
  groups: Groups | null,
): Window {
  const client = useQueryClient()
  const sections = new Map(groups?.sections.map(section => [section.key, section]))
  const place = (row: number) => (groups ? placeIn(groups.sections, row) : { section: null, index: row })
  const pageOf = (index: number) => Math.floor(index / windowSize) + 1
  // The windows in view, debounced: those passed while scrolling are not read.
  const shown = useDebounced(JSON.stringify(windowsIn(first, last, place, pageOf)), 60)
  const queries = (JSON.parse(shown) as readonly (readonly [string | null, number])[]).flatMap(
    ([key, page]) => {
      const wanted = key === null ? (groups ? undefined : request) : sections.get(key)?.request
      return wanted ? [pageQuery(resource, wanted, page, windowSize)] : []
    },
  )
  const results = useQueries({ queries })
  return {
    rowAt: row => {
      const at = place(row)
      if (!at || at.index < 0) return undefined
      const query = pageQuery(resource, at.section?.request ?? request, pageOf(at.index), windowSize)
      return client.getQueryData<Page<AnyRecord>>(query.queryKey)?.data[at.index % windowSize]
    },
    groupAt: row => {
      const at = place(row)
      return at?.index === -1 ? (at.section ?? undefined) : undefined
    },
    error: groups?.error ?? results.find(({ error }) => error)?.error ?? null,
    retry: () => {
      if (groups?.error) groups.retry()
      for (const { error, refetch } of results) if (error) void refetch()
    },
    isFetching: groups?.isFetching === true || results.some(({ isFetching }) => isFetching),
  }
}

function totalOf({ meta }: Page<AnyRecord>, exact: number | null | undefined): Total {
  if (!meta.totalIsEstimate && meta.total !== null) return { count: meta.total, isEstimate: false }
  if (exact !== undefined && exact !== null) return { count: exact, isEstimate: false }
  return { count: meta.total ?? 0, isEstimate: true }
}

/** The windows of the rows in view: the key of the group, or null without groups, and the page. */
function windowsIn(
  first: number,
  last: number,
  place: (row: number) => { section: Section | null; index: number } | null,
  pageOf: (index: number) => number,
): (readonly [string | null, number])[] {
  const windows = new Map<string, readonly [string | null, number]>()
  for (let row = first; row <= Math.max(last, first); row++) {
    const at = place(row)
    if (!at || at.index < 0) continue
    const window = [at.section?.key ?? null, pageOf(at.index)] as const
    windows.set(window.join(), window)
  }
  return [...windows.values()]
}
