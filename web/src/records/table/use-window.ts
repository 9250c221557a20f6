/**
 * The rows of a list for a table: any place of it, read in windows of a hundred. Rows that are still loading
 * are undefined; nothing else moves when they arrive.
 */
import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { type AnyRecord, api, base, type Page } from '../../api/api.ts'
import { type ListRequest, pageQuery } from '../../api/queries.ts'
import { useDebounced } from '../../ui/use-debounced.ts'

const windowSize = 100
/** A numbered page skips at most 100 000 rows (D27). Every browser can draw an element of that height. */
export const rowsMax = 100_000

export type Total = { readonly count: number; readonly isEstimate: boolean }

export type Window = {
  readonly rowAt: (index: number) => AnyRecord | undefined
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

/** `first` and `last` are the rows in sight. */
export function useWindow(resource: string, request: ListRequest, first: number, last: number): Window {
  const client = useQueryClient()
  // The windows in view, debounced: those passed while scrolling are not read.
  const pages = useDebounced(pagesOf(first, last), 60).split(',').map(Number)
  const results = useQueries({ queries: pages.map(page => pageQuery(resource, request, page, windowSize)) })
  const known = (page: number) =>
    client.getQueryData<Page<AnyRecord>>(pageQuery(resource, request, page, windowSize).queryKey)
  return {
    rowAt: index => known(Math.floor(index / windowSize) + 1)?.data[index % windowSize],
    error: results.find(({ error }) => error)?.error ?? null,
    retry: () => {
      for (const { error, refetch } of results) if (error) void refetch()
    },
    isFetching: results.some(({ isFetching }) => isFetching),
  }
}

function totalOf({ meta }: Page<AnyRecord>, exact: number | null | undefined): Total {
  if (!meta.totalIsEstimate && meta.total !== null) return { count: meta.total, isEstimate: false }
  if (exact !== undefined && exact !== null) return { count: exact, isEstimate: false }
  return { count: meta.total ?? 0, isEstimate: true }
}

function pagesOf(first: number, last: number): string {
  const pages: number[] = []
  const [from, to] = [Math.floor(first / windowSize), Math.floor(Math.max(last, first) / windowSize)]
  for (let page = from; page <= to; page++) pages.push(page + 1)
  return pages.join()
}
