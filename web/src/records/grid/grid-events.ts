/** Handles the keys and clicks of a table's grid: one listener each for the whole grid. */
import type { FocusEvent, KeyboardEvent, MouseEvent } from 'react'
import type { AnyRecord, Field } from '../../api/api.ts'
import type { Section } from '../groups/grouping.ts'
import type { ShownColumn } from '../table/layout.ts'
import type { HeadActions } from '../table/table-head.tsx'
import { type Cell, next } from './grid.ts'
import type { Active } from './use-active.ts'

export type Grid = {
  readonly active: Active
  readonly rows: number
  readonly columns: readonly ShownColumn[]
  /** number of rows in view */
  readonly page: number
  readonly nameField: string
  readonly isEditing: boolean
  readonly hasSelected: boolean
  readonly rowAt: (row: number) => AnyRecord | undefined
  /** the group of which a row is the header */
  readonly groupAt: (row: number) => Section | undefined
  readonly toggleGroup: (key: string) => void
  readonly selectGroup: (group: Section) => void
  readonly edit: (cell: Cell) => void
  readonly open: (id: number) => void
  readonly toggle: (row: number, isRange: boolean) => void
  readonly toggleAll: () => void
  readonly selectAll: () => void
  readonly selectNothing: () => void
  readonly actions: HeadActions
}

export function gridEvents(grid: Grid) {
  const { active, columns, rowAt, actions } = grid
  const fieldAt = (column: number): Field | undefined => columns[column - 1]?.field
  return {
    onKeyDown: (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.defaultPrevented || grid.isEditing || !target.dataset.cell) return
      const field = fieldAt(active.cell.column)
      const isTaken = active.cell.row < 0 ? onHeadKey(event, field, grid) : onBodyKey(event, field, grid)
      const size = { rows: grid.rows, columns: columns.length + 1, page: grid.page }
      const isAtEdge = event.ctrlKey || event.metaKey
      const cell = isTaken || event.altKey ? null : next(active.cell, event.key, size, isAtEdge)
      if (cell) active.go(cell, event.shiftKey && active.cell.row >= 0)
      if (isTaken || cell) event.preventDefault()
    },
    // A screen reader may focus any cell.
    onFocus: ({ target }: FocusEvent<HTMLElement>) => {
      active.noteFocus(target)
      const cell = target.dataset.cell === undefined || grid.isEditing ? null : cellOf(target)
      if (cell && (cell.row !== active.cell.row || cell.column !== active.cell.column)) active.go(cell)
    },
    onBlur: () => active.noteFocus(null),
    onClick: (event: MouseEvent) => {
      const target = event.target as HTMLElement
      const cell = cellOf(target)
      if (!cell || target.closest('[data-menu], [data-edge]')) return
      const field = fieldAt(cell.column)
      if (target.closest('[data-open]')) {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        const record = rowAt(cell.row)
        if (record) grid.open(record.id)
      } else if (grid.groupAt(cell.row)) {
        const group = grid.groupAt(cell.row)!
        if (cell.column === 0) grid.selectGroup(group)
        else grid.toggleGroup(group.key)
        active.go(cell)
      } else if (cell.row >= 0) {
        if (cell.column === 0) grid.toggle(cell.row, event.shiftKey)
        active.go(cell, event.shiftKey && cell.column > 0)
      } else {
        if (!field) grid.toggleAll()
        else if (field.is_sortable) actions.sort(field.internal_name, event.shiftKey)
        active.go(cell)
      }
    },
    onDoubleClick: (event: MouseEvent) => {
      const cell = cellOf(event.target as HTMLElement)
      if (cell && cell.row >= 0) grid.edit(cell)
    },
  }
}

function cellOf(target: HTMLElement): Cell | null {
  const found = target.closest<HTMLElement>('[data-cell]')?.dataset.cell?.split('.')
  return found ? { row: Number(found[0]), column: Number(found[1]) } : null
}

/** True if the key was handled: Enter sorts, Shift+arrows resize, Ctrl+Shift+arrows move the column. */
function onHeadKey(event: KeyboardEvent, field: Field | undefined, grid: Grid): boolean {
  const { key, shiftKey, ctrlKey, metaKey } = event
  const { active, columns, actions, toggleAll } = grid
  const { column } = active.cell
  const isPress = key === 'Enter' || key === ' '
  if (!field) {
    if (isPress) toggleAll()
    return isPress
  }
  if (isPress) {
    if (field.is_sortable) actions.sort(field.internal_name, shiftKey)
    return true
  }
  if (key === 'ArrowDown' && event.altKey) {
    active.elementOf(active.cell)?.querySelector<HTMLElement>('[data-menu]')?.click()
    return true
  }
  if (!shiftKey || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return false
  const step = key === 'ArrowLeft' ? -1 : 1
  if (ctrlKey || metaKey) {
    actions.move(field.internal_name, step)
    active.go({ row: -1, column: Math.min(Math.max(column + step, 1), columns.length) })
  } else actions.resize(field.internal_name, columns[column - 1]!.width + step * 16)
  return true
}

function onBodyKey(event: KeyboardEvent, field: Field | undefined, grid: Grid): boolean {
  const { key, shiftKey, ctrlKey, metaKey } = event
  const { active, hasSelected } = grid
  const group = grid.groupAt(active.cell.row)
  if (group && onGroupKey(key, group, grid)) return true
  const record = grid.rowAt(active.cell.row)
  if (key === ' ' || (key === 'Enter' && !field)) grid.toggle(active.cell.row, shiftKey)
  else if (key === 'Enter' && field?.internal_name === grid.nameField) {
    if (record) grid.open(record.id)
  } else if (key === 'Enter' || key === 'F2') grid.edit(active.cell)
  else if (key === 'Escape' && active.range) active.dropRange()
  else if (key === 'Escape' && hasSelected) grid.selectNothing()
  else if (key.toLowerCase() === 'a' && (ctrlKey || metaKey)) grid.selectAll()
  else return false
  return true
}

/** Space selects a group. Enter collapses it or opens it; Left collapses it, and Right opens it. */
function onGroupKey(key: string, group: Section, { toggleGroup, selectGroup }: Grid): boolean {
  const isArrow = key === 'ArrowLeft' || key === 'ArrowRight'
  if (key === ' ') selectGroup(group)
  else if (!isArrow && key !== 'Enter') return false
  else if (!isArrow || group.isCollapsed === (key === 'ArrowRight')) toggleGroup(group.key)
  return true
}
