/** Searches records by a text, with details that distinguish records of the same name. */
import { useQuery } from '@tanstack/react-query'
import { type AnyRecord, callApi, type Named } from '../api/api.ts'
import { expandable, fieldsQuery, queryClient } from '../api/queries.ts'
import { isSearch } from '../fields/references/find-records.ts'
import { useDebounced } from '../ui/use-debounced.ts'

type SearchHit = {
  readonly resource: string
  readonly id: number
  readonly name: string
  readonly detail: string | null
}

const dealDetails = ['pipeline_stage', 'sales_owner'] as const

/** Finds records while typing: earlier matches stay until the next answer. */
export function useRecordSearch(text: string): readonly SearchHit[] {
  const settled = useDebounced(text.trim(), 150)
  const { data } = useQuery({
    queryKey: ['search', settled],
    queryFn: async ({ signal }) => {
      const query = { q: settled, pageSize: 12 }
      return withDetails(await callApi<SearchHit[]>('GET', '/search', { query, signal }), signal)
    },
    enabled: isSearch(settled),
    placeholderData: before => before,
    staleTime: 10_000,
  })
  return !isSearch(text.trim()) ? [] : (data ?? [])
}

/** Deals share titles more often than other records share names: each gets its stage and its owner. */
async function withDetails(found: readonly SearchHit[], signal: AbortSignal): Promise<readonly SearchHit[]> {
  const ids = found.flatMap(({ resource, id }) => (resource === 'deal' ? [id] : []))
  const seen = expandable(await queryClient.ensureQueryData(fieldsQuery('deal'))).split(',')
  const expand = dealDetails.filter(name => seen.includes(name)).join()
  if (ids.length === 0 || !expand) return found
  const query = { filter: `id:in(${ids.join()})`, fields: `id,${expand}`, expand, count: 'none' }
  const deals = await callApi<AnyRecord[]>('GET', '/deal/view/list', { query, signal })
  const byId = new Map(deals.map(({ id, _expanded }) => [id, _expanded]))
  return found.map(one => {
    if (one.resource !== 'deal') return one
    const names = dealDetails.map(name => (byId.get(one.id)?.[name] as Named | null | undefined)?.name)
    return { ...one, detail: [...names, one.detail].filter(Boolean).join(' · ') }
  })
}
