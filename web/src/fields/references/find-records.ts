/** The records to choose from while typing. */
import { keepPreviousData, queryOptions, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { type AnyRecord, callApi, type Named } from '../../api/api.ts'
import { mayRead, queryClient, recordQuery } from '../../api/queries.ts'
import { useDebounced } from '../../ui/use-debounced.ts'

export type Match = { readonly id: number; readonly name: string; readonly detail?: string | null }

/** debounce of typing */
const typingMs = 150

/**
 * True if the service searches for a text: two characters, or one of a script in which that may be a word.
 */
export function isSearch(text: string): boolean {
  return (
    text.length >= 2 || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text)
  )
}

const isSearched = (resource: string) => ['deal', 'contact', 'company', 'product'].includes(resource)

/** The name of a record, whatever its resource calls the field. */
export function nameOf(record: { readonly [field: string]: unknown }): string {
  const { title, name, subject, first_name, last_name } = record
  const person = [first_name, last_name].filter(Boolean).join(' ')
  return String(title ?? name ?? subject ?? (person || `No. ${record.id}`))
}

async function find(resource: string, text: string, signal: AbortSignal): Promise<readonly Match[]> {
  if (isSearch(text) && isSearched(resource)) {
    return callApi<Match[]>('GET', '/search', {
      query: { q: text, resources: resource, pageSize: 12 },
      signal,
    })
  }
  // A parenthesis would end the filter's value (D30).
  const named = text.replace(/[()]/g, ' ').trim()
  const query = {
    pageSize: isSearched(resource) ? 12 : 50,
    count: 'none',
    sort: isSearched(resource) ? 'updated_at:desc' : 'name:asc',
    ...(named && !isSearched(resource) ? { filter: `name:like(${named})` } : {}),
  }
  const list = await callApi<AnyRecord[]>('GET', `/${resource}/view/list`, { query, signal })
  return list.filter(one => one.is_active !== 2).map(one => ({ id: one.id, name: nameOf(one) }))
}

const matchesQuery = (resource: string, text: string) =>
  queryOptions({
    queryKey: ['list', resource, 'found', text],
    queryFn: ({ signal }) => find(resource, text, signal),
    staleTime: 10_000,
  })

/** The record of a text: the one of this name, or the only match. Else the reason why there is none. */
export async function findMatch(
  resource: string,
  text: string,
  without: readonly unknown[] = [],
): Promise<Match | string> {
  const all = await queryClient.fetchQuery(matchesQuery(resource, text))
  const found = all.filter(({ id }) => !without.includes(id))
  const lower = text.toLocaleLowerCase()
  const exact = found.filter(({ name }) => name.toLocaleLowerCase() === lower)
  // A single letter does not search: it lists the records that were changed last.
  const fitting = exact.length > 0 || (isSearched(resource) && !isSearch(text)) ? exact : found
  if (fitting.length === 1) return fitting[0]!
  if (fitting.length > 1) return `several records match “${text}”. Choose one from the list.`
  if (all.length > 0 && found.length === 0) return `“${text}” is already chosen.`
  return `there is no ${resource} “${text}”.`
}

/**
 * Finds by a text while it is typed. Earlier matches stay until the next answer, as far as they contain the
 * text: a fast typist who takes the first one gets none of another text's.
 */
export function useFound<M extends Match>(
  text: string,
  queryOf: (settled: string) => UseQueryOptions<readonly M[], Error, readonly M[], string[]>,
): readonly M[] {
  const settled = useDebounced(text.trim(), typingMs)
  const { data: found = [], isPlaceholderData } = useQuery({
    ...queryOf(settled),
    placeholderData: keepPreviousData,
  })
  const isFresh = settled === text.trim() && !isPlaceholderData
  return isFresh ? found : found.filter(one => hasWords(`${one.name} ${one.detail ?? ''}`, text))
}

/** The records that may be chosen by a text. */
export const useMatches = (resource: string, text: string, isAsked: boolean): readonly Match[] =>
  useFound(text, settled => ({ ...matchesQuery(resource, settled), enabled: isAsked }))

function hasWords(name: string, text: string): boolean {
  const lower = name.toLocaleLowerCase()
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every(word => lower.includes(word))
}

/** The name of a record; it is requested if it isn't `known`. */
export function useName(resource: string, id: number | null, known: Named | undefined): string | null {
  // An id that is being typed is ignored until typing pauses.
  const hasSettled = useDebounced(String(id), typingMs) === String(id)
  const { data } = useQuery({
    ...recordQuery(resource, id ?? 0, ''),
    enabled: id !== null && hasSettled && !known && mayRead(resource),
    select: nameOf,
  })
  return id === null ? null : (known?.name ?? data ?? `No. ${id}`)
}
