/** The previous and next record in the list from which this one was opened. */
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { api, base, type Page } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { type Command, useCommands } from '../../shell/commands.ts'
import { IconButton } from '../../ui/button.tsx'
import { recordPath } from '../tables.ts'

/** Number of ids in a page of the list; pages are read up to the record and the next one. */
const pageSize = 500
const pagesMax = 20

type IdPage = Page<{ readonly id: number }>

/** The ids of the list at the time of leaving it: a change of a record doesn't move its neighbours. */
const idsQuery = (resource: string, request: Partial<ListRequest>, isEnabled: boolean) =>
  infiniteQueryOptions({
    queryKey: ['neighbours', resource, request],
    queryFn: async ({ pageParam: cursor, signal }) => {
      const place = cursor ? { cursor, count: 'none' } : {}
      const query = { ...request, fields: 'id', pageSize, ...place }
      const { body } = await api.request('GET', `${base}/${resource}/view/list`, { query, signal })
      return body as IdPage
    },
    initialPageParam: '',
    getNextPageParam: ({ meta }, pages) => (pages.length < pagesMax ? meta.nextCursor : null),
    staleTime: 300_000,
    enabled: isEnabled,
  })

/** True if the record is in the list. One that is not, as after a change, would be sought on every page. */
const isListedQuery = (resource: string, request: Partial<ListRequest>, id: number) =>
  queryOptions({
    queryKey: ['neighbours', resource, request, id],
    queryFn: async ({ signal }) => {
      const filter = [...(request.filter ? [request.filter] : []), `id:eq(${id})`]
      const query = { ...request, filter, fields: 'id', pageSize: 1, count: 'none' }
      const { body } = await api.request('GET', `${base}/${resource}/view/list`, { query, signal })
      return (body as IdPage).data.length > 0
    },
    staleTime: 300_000,
  })

export function Neighbours({ resource, id }: { resource: string; id: number }) {
  const { filter, sort, deleted } = useSearch({ strict: false })
  const navigate = useNavigate()
  const format = useFormat()
  const request = {
    ...(filter ? { filter } : {}),
    ...(sort ? { sort } : {}),
    ...(deleted ? { deleted: 'only' as const } : {}),
  }
  const isEnabled = filter !== undefined || sort !== undefined
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery(
    idsQuery(resource, request, isEnabled),
  )
  const ids = useMemo(() => data?.pages.flatMap(page => page.data.map(one => one.id)) ?? [], [data])
  const place = ids.indexOf(id)
  const isFarther = data !== undefined && place < 0 && hasNextPage
  const { data: isListed } = useQuery({ ...isListedQuery(resource, request, id), enabled: isFarther })
  const isShort = place < 0 ? isListed === true : place === ids.length - 1
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage])
  const before = place > 0 ? ids[place - 1] : undefined
  const after = place >= 0 ? ids[place + 1] : undefined
  const commands = useMemo(() => {
    const go = (to: number | undefined) => () => {
      if (to !== undefined)
        void navigate({
          to: recordPath(resource, to),
          search: ((list: object) => ({ ...list, tab: undefined })) as never,
        })
    }
    const list: Command[] = [
      { id: 'record-before', title: 'Previous record', group: 'Record', keys: '[', act: go(before) },
      { id: 'record-after', title: 'Next record', group: 'Record', keys: ']', act: go(after) },
    ]
    return list
  }, [navigate, resource, before, after])
  useCommands(commands)
  if (place < 0) return null
  const { total = null, totalIsEstimate = false } = data?.pages[0]?.meta ?? {}
  return (
    <span className="flex items-center text-ink-faint">
      <IconButton label="Previous ([)" isDisabled={before === undefined} onPress={commands[0]!.act}>
        <ChevronLeft size={16} aria-hidden />
      </IconButton>
      <span className="tabular text-sm">
        {format.number(place + 1)} of {format.total(total ?? ids.length, totalIsEstimate)}
      </span>
      <IconButton label="Next (])" isDisabled={after === undefined} onPress={commands[1]!.act}>
        <ChevronRight size={16} aria-hidden />
      </IconButton>
    </span>
  )
}
