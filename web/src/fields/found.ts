/** The records that somebody can choose from as they type. */
import { useQuery } from '@tanstack/react-query'
import { type AnyRecord, ask, type Named } from '../api/api.ts'
import { mayRead, recordQuery } from '../api/queries.ts'
import { useDebounced } from '../ui/use-debounced.ts'

export type Found = { readonly id: number; readonly name: string; readonly detail?: string | null }

const searched = ['deal', 'contact', 'company', 'product']

/** The name under which a record is shown, whatever its resource calls it. */
export function nameOf(record: { readonly [field: string]: unknown }): string {
  const { title, name, subject, first_name, last_name } = record
  const person = [first_name, last_name].filter(Boolean).join(' ')
  return String(title ?? name ?? subject ?? (person || `No. ${record.id}`))
}

async function find(resource: string, text: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (text.length >= 2 && searched.includes(resource)) {
    return ask<Found[]>('GET', '/search', { query: { q: text, resources: resource, pageSize: 12 }, signal })
  }
  const isSearched = searched.includes(resource)
  // A parenthesis would end the filter's value (D30).
  const named = text.replace(/[()]/g, ' ').trim()
  const query = {
    pageSize: isSearched ? 12 : 50,
    count: 'none',
    sort: isSearched ? 'updated_at:desc' : 'name:asc',
    ...(named && !isSearched ? { filter: `name:like(${named})` } : {}),
  }
  const list = await ask<AnyRecord[]>('GET', `/${resource}/view/list`, { query, signal })
  return list.filter(one => one.is_active !== 2).map(one => ({ id: one.id, name: nameOf(one) }))
}

/**
 * What was found before stays until the next answer is there, as far as it has the text: who types fast and
 * takes the first one takes none of another text's.
 */
export function useFound(resource: string, text: string, isAsked: boolean): readonly Found[] {
  const asked = useDebounced(text.trim(), 150)
  const { data, isPlaceholderData } = useQuery({
    queryKey: ['list', resource, 'found', asked],
    queryFn: ({ signal }) => find(resource, asked, signal),
    enabled: isAsked,
    placeholderData: before => before,
    staleTime: 10_000,
  })
  const found = data ?? []
  const isFresh = asked === text.trim() && !isPlaceholderData
  return isFresh ? found : found.filter(one => hasWords(`${one.name} ${one.detail ?? ''}`, text))
}

function hasWords(name: string, text: string): boolean {
  const lower = name.toLocaleLowerCase()
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every(word => lower.includes(word))
}

/** The name of a record, which is asked for where nobody has told it. */
export function useName(resource: string, id: number | null, told: Named | undefined): string | null {
  const { data } = useQuery({
    ...recordQuery(resource, id ?? 0, ''),
    enabled: id !== null && !told && mayRead(resource),
    select: nameOf,
  })
  return id === null ? null : (told?.name ?? data ?? `No. ${id}`)
}
