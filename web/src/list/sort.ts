/** The interface's text of a sort, and the effect of a press on a header. */
import type { SortKey } from '../../../client/src/filter.ts'

export const printSort = (keys: readonly SortKey[]): string =>
  keys.map(({ field, direction }) => `${field}:${direction}`).join(',')

/**
 * The keys after a press on a field's header: ascending, descending, then no longer sorted by. Alone, or
 * beside the others.
 */
export function toggleSort(keys: readonly SortKey[], field: string, isBeside: boolean): SortKey[] {
  const now = keys.find(key => key.field === field)
  const next: SortKey | null = !now
    ? { field, direction: 'asc' }
    : now.direction === 'asc'
      ? { field, direction: 'desc' }
      : null
  if (!isBeside) return next ? [next] : []
  if (!next) return keys.filter(key => key !== now)
  return now ? keys.map(key => (key === now ? next : key)) : [...keys, next]
}
