/**
 * The records that the user has opened last in this browser, for the palette (D163). Only their ids are
 * stored: the names are the service's, so that a record that is gone or hidden shows nothing.
 */
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type AnyRecord, callApi } from '../api/api.ts'
import { nameOf } from '../fields/references/find-records.ts'
import { useMe, whoOf } from './me.ts'
import { type SearchHit, withDealDetails } from './record-details.ts'

type Opened = { readonly resource: string; readonly id: number }

const most = 8

function useKey(): string {
  return `dealwright recent ${whoOf(useMe())}`
}

function read(key: string): readonly Opened[] {
  try {
    const opened: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(opened) ? opened : []
  } catch {
    return []
  }
}

/** Notes that a record is open. */
export function useNoteOpened({ resource, id }: Opened): void {
  const key = useKey()
  useEffect(() => {
    const others = read(key).filter(one => one.resource !== resource || one.id !== id)
    try {
      localStorage.setItem(key, JSON.stringify([{ resource, id }, ...others].slice(0, most)))
    } catch {
      // The browser's storage is full or disabled: nothing is recent.
    }
  }, [key, resource, id])
}

/** The records that were opened last, the last first. */
export function useRecentRecords(): readonly SearchHit[] {
  const key = useKey()
  const opened = read(key)
  const { data = [] } = useQuery({
    queryKey: ['recent', key, opened],
    queryFn: ({ signal }) => find(opened, signal),
    enabled: opened.length > 0,
    staleTime: 10_000,
  })
  return data
}

async function find(opened: readonly Opened[], signal: AbortSignal): Promise<readonly SearchHit[]> {
  const found = new Map<string, SearchHit>()
  const lists = [...Map.groupBy(opened, ({ resource }) => resource)].map(async ([resource, some]) => {
    const query = { filter: `id:in(${some.map(({ id }) => id).join()})`, count: 'none' }
    // A resource that the user may no longer read leaves the others.
    const list = await callApi<AnyRecord[]>('GET', `/${resource}/view/list`, { query, signal }).catch(
      () => [],
    )
    for (const record of list)
      found.set(`${resource}${record.id}`, { resource, id: record.id, name: nameOf(record), detail: null })
  })
  await Promise.all(lists)
  const hits = opened.map(({ resource, id }) => found.get(`${resource}${id}`))
  return withDealDetails(
    hits.filter(hit => hit !== undefined),
    signal,
  )
}
