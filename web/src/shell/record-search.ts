/** Searches records by a text, with details that distinguish records of the same name. */
import { callApi } from '../api/api.ts'
import { isSearch, useFound } from '../fields/references/find-records.ts'
import { type SearchHit, withDealDetails } from './record-details.ts'

/** Finds records while typing. */
export function useRecordSearch(text: string): readonly SearchHit[] {
  const found = useFound(text, settled => ({
    queryKey: ['search', settled],
    queryFn: async ({ signal }) => {
      const query = { q: settled, pageSize: 12 }
      return withDealDetails(await callApi<SearchHit[]>('GET', '/search', { query, signal }), signal)
    },
    enabled: isSearch(settled),
    staleTime: 10_000,
  }))
  return isSearch(text.trim()) ? found : []
}
