/** Selects the rows of a table: one, a range from the last one, or all matches. */
import { useRef } from 'react'
import { toastError } from '../../ui/toast.tsx'
import {
  countSelected,
  everythingSelected,
  isSelected,
  nothingSelected,
  type Selection,
  selected,
} from '../bulk/selection.ts'
import { type RowAt, rowOf } from './grid.ts'

export function useRowSelection(props: {
  selection: Selection
  onSelect: (selection: Selection) => void
  /** identifies the list: a range doesn't continue in another one */
  list: string
  /** number of matching records */
  count: number
  rowAt: RowAt
  /** True if a row is the header of a group */
  isHeader: (row: number) => boolean
}) {
  const { selection, onSelect, list, count, rowAt, isHeader } = props
  const lastToggled = useRef<{ list: string; row: number; id: number }>(null)
  const selectedCount = countSelected(selection, count)
  const toggle = (row: number, isRange: boolean) => {
    const record = rowAt(row)
    if (!record) return
    const isWanted = isRange || !isSelected(selection, record.id)
    // Another filter or order has other rows: a range starts anew there. Others' changes move its begin.
    const last = lastToggled.current
    const begin = (isRange && last?.list === list ? rowOf(last.id, last.row, rowAt) : null) ?? row
    const [first, end] = [Math.min(begin, row), Math.max(begin, row)]
    const ids: number[] = []
    let missing = 0
    for (let at = first; at <= end; at++) {
      const one = rowAt(at)
      if (one) ids.push(one.id)
      else if (!isHeader(at)) missing++
    }
    lastToggled.current = { list, row, id: record.id }
    onSelect(selected(selection, ids, isWanted))
    if (missing) toastError(describeUnread(missing))
  }
  return {
    toggle,
    toggleAll: () => onSelect(selectedCount > 0 ? nothingSelected : everythingSelected),
    selectAll: () => onSelect(everythingSelected),
    selectNothing: () => onSelect(nothingSelected),
    hasSelected: selectedCount > 0,
    /** the state of the checkbox in the head */
    isAllSelected: selectedCount === 0 ? false : selectedCount >= count ? true : ('some' as const),
  }
}

function describeUnread(rows: number): string {
  return rows === 1
    ? 'One row in between is not loaded yet, so it is not selected.'
    : `${rows} rows in between are not loaded yet, so they are not selected.`
}
