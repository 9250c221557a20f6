/** The selected records: those with the ids, or with `isAll` all matches but them. Pure. */

export type Selection = { readonly isAll: boolean; readonly ids: ReadonlySet<number> }

export const nothingSelected: Selection = { isAll: false, ids: new Set() }
export const everythingSelected: Selection = { isAll: true, ids: new Set() }

export const isSelected = ({ isAll, ids }: Selection, id: number): boolean => ids.has(id) !== isAll

export const countSelected = ({ isAll, ids }: Selection, total: number): number =>
  isAll ? Math.max(total - ids.size, 0) : ids.size

/** The conditions that find the selected records; `filter` finds all matches. None: all records. */
export function conditionsOf({ isAll, ids }: Selection, filter?: string): readonly string[] {
  const listed = ids.size > 0 || !isAll ? [`id:${isAll ? 'nin' : 'in'}(${[...ids].join()})`] : []
  return isAll && filter ? [filter, ...listed] : listed
}

/** Limit of ids in a filter. */
export const idsMax = 5000

/** The selection with records added or removed. */
export function selected({ isAll, ids }: Selection, which: readonly number[], isWanted: boolean): Selection {
  const next = new Set(ids)
  for (const id of which) {
    if (isWanted === isAll) next.delete(id)
    else next.add(id)
  }
  return { isAll, ids: next }
}
