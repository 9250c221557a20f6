/** Searches records by a text, with details that distinguish records of the same name. */
import { useQuery } from '@tanstack/react-query'
import { callApi } from '../api/api.ts'
import { isSearch } from '../fields/references/find-records.ts'
import { useDebounced } from '../ui/use-debounced.ts'
import { type SearchHit, withDealDetails } from './record-details.ts'

/** Finds records while typing: earlier matches stay until the next answer. */
export function useRecordSearch(text: string): readonly SearchHit[] {
  const settled = useDebounced(text.trim(), 150)
  const { data } = useQuery({
    queryKey: ['search', settled],
    queryFn: async ({ signal }) => {
      const query = { q: settled, pageSize: 12 }
      return withDealDetails(await callApi<SearchHit[]>('GET', '/search', { query, signal }), signal)
    },
    enabled: isSearch(settled),
    placeholderData: before => before,
    staleTime: 10_000,
  })
  return !isSearch(text.trim()) ? [] : (data ?? [])
}
