/** The interface's text of a sort ⇄ its keys, and the effect of a press on a header. */
import { FilterError } from '../../../client/src/filter.ts'

export type SortKey = { readonly field: string; readonly direction: 'asc' | 'desc' }

/** Parses `a:asc,b:desc`. A repeated field is ignored, as by the service. Throws FilterError. */
export function parseSort(text: string): SortKey[] {
  if (text.trim() === '') return []
  let position = 0
  const keys: SortKey[] = []
  for (const part of text.split(',')) {
    const match = /^\s*([A-Za-z_][\w.]*):(asc|desc)\s*$/.exec(part)
    if (!match) throw new FilterError(`"${part}" is not a sort key`, position)
    position += part.length + 1
    const [, field, direction] = match
    if (keys.every(key => key.field !== field))
      keys.push({ field: field!, direction: direction as SortKey['direction'] })
  }
  return keys
}

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
