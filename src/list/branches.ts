/**
 * The order of a list, cut into branches that an index can give one after the other: first the records that
 * have a value, then those that have none (nulls are last in both directions, D29, which no one index of
 * PostgreSQL is); or one option after the other, where options are not in the order of their ids. Knows no
 * filter.
 */
import type { PlannedSort } from './resolve.ts'

/** The values of a list's sort keys in one record: a place in the list to go on from. */
export type Position = readonly (string | null)[]

export type Branch = {
  /** SQL of what the branch holds; null = everything */
  readonly where: string | null
  readonly keys: readonly PlannedSort[]
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
export function branchesOf(keys: readonly PlannedSort[], position: Position | null): Branch[] {
  const [first, ...rest] = keys as [PlannedSort, ...PlannedSort[]]
  const { ranked, sql, looksUp } = first.order
  if (ranked && ranked.values.length <= rankedMax) return rankedBranches(first, rest, position)
  if (!first.nullable || looksUp) return [{ where: null, keys, fixed: 0, after: position }]
  const bare = [{ ...first, nullable: false }, ...rest]
  const filled: Branch = { where: `${sql} IS NOT NULL`, keys: bare, fixed: 0, after: position }
  const empty: Branch = { where: `${sql} IS NULL`, keys: bare, fixed: 1, after: null }
  return position && position[0] === null ? [{ ...empty, after: position.slice(1) }] : [filled, empty]
}

function rankedBranches(
  first: PlannedSort,
  rest: readonly PlannedSort[],
  position: Position | null,
): Branch[] {
  const { column, values } = first.order.ranked!
  const inOrder = first.direction === 'asc' ? values : values.toReversed()
  const branches: Branch[] = inOrder.map(value => ({
    where: `${column} = ${value}`,
    keys: rest,
    fixed: 0,
    after: null,
  }))
  branches.push({
    where: `(${column} IS NULL OR ${column} <> ALL('{${values.join(',')}}'))`,
    keys: rest,
    fixed: 0,
    after: null,
  })
  if (!position) return branches
  const place = position[0] === null ? undefined : values[Number(position[0]) - 1]
  const index = place === undefined ? values.length : inOrder.indexOf(place)
  return [{ ...branches[index]!, after: position.slice(1) }, ...branches.slice(index + 1)]
}
