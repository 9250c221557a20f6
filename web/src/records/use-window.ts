/**
 * The rows of a list as a table shows them: any place of it, read in windows of a hundred. Rows that are still
 * to come are undefined; nothing else moves when they arrive.
 */
import { keepPreviousData, queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type AnyRecord, api, base, type Page } from '../api/api.ts'
import { type ListAsked, pageQuery } from '../api/queries.ts'

export const windowSize = 100
/** Numbered pages end at row 100 000 (D27). An element of that height is one that every browser can draw. */
export const rowsMax = 100_000

export type Total = { readonly count: number; readonly isEstimate: boolean }

export type Window = {
  readonly rowAt: (index: number) => AnyRecord | undefined
  /** null until it is known */
  readonly total: Total | null
  readonly error: unknown
  readonly isFetching: boolean
  readonly retry: () => void
}

const exactQuery = (resource: string, asked: ListAsked) =>
  queryOptions({
    queryKey: ['list', resource, { ...asked, sort: '', fields: 'id', expand: '' }, 'count'],
    queryFn: async ({ signal }) => {
      const { filter, deleted } = asked
      const query = { filter, deleted, fields: 'id', pageSize: 1, count: 'exact' }
      const { body } = await api.request('GET', `${base}/${resource}/view/list`, { query, signal })
      return (body as Page<AnyRecord>).meta.total
    },
    placeholderData: keepPreviousData,
  })

/** `first` and `last` are the rows in sight. */
export function useWindow(resource: string, asked: ListAsked, first: number, last: number): Window {
  const client = useQueryClient()
  const pages = useSettled(pagesOf(first, last))
  const results = useQueries({
    queries: pages.map(page => pageQuery(resource, asked, page, windowSize)),
  })
  const known = (page: number) =>
    client.getQueryData<Page<AnyRecord>>(pageQuery(resource, asked, page, windowSize).queryKey)
  const head = results.find(({ data }) => data)?.data ?? known(1)
  const exact = useQuery({
    ...exactQuery(resource, asked),
    enabled: head?.meta.totalIsEstimate === true,
  })
  const total = head ? totalOf(head, exact.data) : null
  return {
    rowAt: index => known(Math.floor(index / windowSize) + 1)?.data[index % windowSize],
    total,
    error: results.find(({ error }) => error)?.error ?? null,
    isFetching: results.some(({ isFetching }) => isFetching),
    retry: () => {
      for (const { isError, refetch } of results) if (isError) void refetch()
    },
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

/** The windows in sight, once the scrolling has come to rest there: those it passes by are not read. */
function useSettled(pages: string): number[] {
  const [settled, setSettled] = useState(pages)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(pages), 60)
    return () => clearTimeout(timer)
  }, [pages])
  return settled.split(',').map(Number)
}
