/**
 * The order of a list, cut into branches that an index can give one after the other: first the records that
 * have a value, then those that have none (nulls are last in both directions, D29, which no one index of
 * PostgreSQL is); or one option after the other, where options are not in the order of their ids. Knows no
 * filter.
 */
import { type Sql, sql } from '../sql.ts'
import type { PlannedSort } from './resolve.ts'

/** A sort key as SQL: its value in the row that is sorted, and of a ranked one the column behind it. */
export type SortKey = PlannedSort & { readonly value: Sql; readonly column: Sql | null }

/** The values of a list's sort keys in one record: a place in the list to go on from. */
export type Position = readonly (string | null)[]

export type Branch = {
  /** what the branch holds; null = everything */
  readonly where: Sql | null
  readonly keys: readonly SortKey[]
  /**
   * of the first keys, how many are the same in the whole branch; they stand in its order for the sake of the
   * index
   */
  readonly fixed: number
  /** the values of the keys that are not fixed after which it begins; null = from its beginning */
  readonly after: Position | null
}

/** More options than this are sorted, not read one after the other. */
const rankedMax = 40

/** The branches of a list in their order; with a position, those from there on. */
export function branchesOf(keys: readonly SortKey[], position: Position | null): Branch[] {
  const [first, ...rest] = keys as [SortKey, ...SortKey[]]
  const { ranked, looksUp } = first.order
  if (ranked && ranked.values.length <= rankedMax) return rankedBranches(first, rest, position)
  if (!first.nullable || looksUp) return [{ where: null, keys, fixed: 0, after: position }]
  const bare = [{ ...first, nullable: false }, ...rest]
  const filled: Branch = { where: sql`${first.value} IS NOT NULL`, keys: bare, fixed: 0, after: position }
  const empty: Branch = { where: sql`${first.value} IS NULL`, keys: bare, fixed: 1, after: null }
  return position && position[0] === null ? [{ ...empty, after: position.slice(1) }] : [filled, empty]
}

function rankedBranches(first: SortKey, rest: readonly SortKey[], position: Position | null): Branch[] {
  const { values } = first.order.ranked!
  const column = first.column!
  const inOrder = first.direction === 'asc' ? values : values.toReversed()
  const branches: Branch[] = inOrder.map(value => ({
    where: sql`${column} = ${sql.integer(value)}`,
    keys: rest,
    fixed: 0,
    after: null,
  }))
  branches.push({
    where: sql`(${column} IS NULL OR ${column} <> ALL(${sql.text(`{${values.join(',')}}`)}))`,
    keys: rest,
    fixed: 0,
    after: null,
  })
  if (!position) return branches
  const place = position[0] === null ? undefined : values[Number(position[0]) - 1]
  const index = place === undefined ? values.length : inOrder.indexOf(place)
  return [{ ...branches[index]!, after: position.slice(1) }, ...branches.slice(index + 1)]
}
