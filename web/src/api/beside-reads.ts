/** Writes beside reads of the same query. */
import type { QueryKey } from '@tanstack/react-query'
import { queryClient } from './queries.ts'

type Writes = { underWay: number; isOld: boolean }

/** Query → its pending writes, and whether a read was under way during one of them. */
const pending = new Map<string, Writes>()

/**
 * Carries out a write. A read that is under way meanwhile may answer with the state before it: the query is
 * read again once its last pending write has ended, and also if a write calls `readAgain`.
 */
export async function besideReads<T>(
  queryKey: QueryKey,
  write: (readAgain: () => void) => Promise<T>,
): Promise<T> {
  const name = JSON.stringify(queryKey)
  const writes = pending.get(name) ?? { underWay: 0, isOld: false }
  pending.set(name, writes)
  const isReading = () => queryClient.isFetching({ queryKey }) > 0
  writes.underWay++
  writes.isOld ||= isReading()
  try {
    return await write(() => {
      writes.isOld = true
    })
  } finally {
    writes.isOld ||= isReading()
    if (--writes.underWay === 0) {
      pending.delete(name)
      if (writes.isOld) void queryClient.invalidateQueries({ queryKey })
    }
  }
}
