/**
 * Cuts a list's order into key ranges that are read one after the other (keyset pagination, or seek). Nulls
 * are last in both directions (D29), and no single index of PostgreSQL has that order. So the records with a
 * value are one range, and those without are the next. If a dropdown's options are not in the order of their
 * ids, each option is a range. An index returns each range in order. Knows no filter.
 */
import { type Sql, sql } from '../sql.ts'
import type { PlannedSort } from './resolve.ts'

/** A sort key as SQL: its value in a row and, if its values have ranks, the underlying column. */
export type SortKey = PlannedSort & { readonly value: Sql; readonly column: Sql | null }

/** The values of the sort keys in one record: the page begins after it. */
export type Position = readonly (string | null)[]

/** A part of the order that one index returns in order. */
export type KeyRange = {
  /** the condition of the range; null = all records */
  readonly where: Sql | null
  readonly keys: readonly SortKey[]
  /**
   * number of leading keys that have a single value in the range; ORDER BY names them only to match the index
   */
  readonly fixed: number
  /** the range begins after these values of the keys that are not fixed; null = at its start */
  readonly after: Position | null
}

/** A dropdown with more options is sorted by rank instead of one range for each option. */
const rankedMax = 40

/** The key ranges of a list, in its order. With a position: the ranges from that position on. */
export function keyRangesOf(keys: readonly SortKey[], position: Position | null): KeyRange[] {
  const [first, ...rest] = keys as [SortKey, ...SortKey[]]
  const { ranked, looksUp } = first.order
  if (ranked && ranked.values.length <= rankedMax) return rankedKeyRanges(first, rest, position)
  if (!first.nullable || looksUp) return [{ where: null, keys, fixed: 0, after: position }]
  const bare = [{ ...first, nullable: false }, ...rest]
  const filled: KeyRange = { where: sql`${first.value} IS NOT NULL`, keys: bare, fixed: 0, after: position }
  const empty: KeyRange = { where: sql`${first.value} IS NULL`, keys: bare, fixed: 1, after: null }
  return position && position[0] === null ? [{ ...empty, after: position.slice(1) }] : [filled, empty]
}

function rankedKeyRanges(first: SortKey, rest: readonly SortKey[], position: Position | null): KeyRange[] {
  const { values } = first.order.ranked!
  const column = first.column!
  const inOrder = first.direction === 'asc' ? values : values.toReversed()
  const ranges: KeyRange[] = inOrder.map(value => ({
    where: sql`${column} = ${sql.integer(value)}`,
    keys: rest,
    fixed: 0,
    after: null,
  }))
  ranges.push({
    where: sql`(${column} IS NULL OR ${column} <> ALL(${sql.text(`{${values.join(',')}}`)}))`,
    keys: rest,
    fixed: 0,
    after: null,
  })
  if (!position) return ranges
  const place = position[0] === null ? undefined : values[Number(position[0]) - 1]
  const index = place === undefined ? values.length : inOrder.indexOf(place)
  return [{ ...ranges[index]!, after: position.slice(1) }, ...ranges.slice(index + 1)]
}
