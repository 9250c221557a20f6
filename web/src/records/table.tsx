/**
 * The grid: any place of the list by its scrollbar, its cells by the keys of the APG's grid. The order, the
 * columns and what is shown are the page's; which cell is active is the grid's own.
 */
import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import type { AnyRecord, Field } from '../api/api.ts'
import type { ListAsked } from '../api/queries.ts'
import type { SortKey } from '../list/sort.ts'
import { usePreferences } from '../shell/preferences.ts'
import { CellEditor, type Editing, type Then } from './cell-editor.tsx'
import { type Cell, next, rangeOf } from './grid.ts'
import { columnsIn, type Layout } from './layout.ts'
import { countSelected, everything, isSelected, nothing, type Selection, selected } from './selection.ts'
import { TableFoot } from './table-foot.tsx'
import { type HeadActions, TableHead } from './table-head.tsx'
import { TableRow } from './table-row.tsx'
import { useClipboard } from './use-clipboard.ts'
import { useSave } from './use-save.tsx'
import { rowsIn, useScroll } from './use-scroll.ts'
import { rowsMax, type Total, useWindow } from './use-window.ts'

type Props = {
  resource: string
  title: string
  nameField: string
  asked: ListAsked
  /** null until it is known */
  total: Total | null
  layout: Layout
  sort: readonly SortKey[]
  hasSums: boolean
  /** why nothing can be changed here */
  reason: string | undefined
  selection: Selection
  onSelect: (selection: Selection) => void
  actions: HeadActions
  href: (id: number) => string
  onOpen: (id: number) => void
  onRefusals: (refusals: readonly { name: string; reason: string }[]) => void
}

export function Table(props: Props) {
  const { resource, title, nameField, asked, layout, sort, hasSums, reason, selection, onSelect } = props
  const { actions, href, onOpen, total } = props
  const height = usePreferences().density === 'compact' ? 30 : 36
  const scroller = useRef<HTMLDivElement>(null)
  const sight = useScroll(scroller)
  const [active, setActive] = useState<Cell>({ row: 0, column: 1 })
  const [anchor, setAnchor] = useState<Cell | null>(null)
  const [editing, setEditing] = useState<Editing | null>(null)
  const editedCell = useRef<HTMLElement | null>(null)
  const wantsFocus = useRef(false)
  const from = Math.floor(sight.top / height)
  const to = Math.ceil((sight.top + sight.height) / height)
  const window = useWindow(resource, asked, from, to)
  const count = Math.min(total?.count ?? Math.ceil(sight.height / height), rowsMax)
  const columns = layout.columns
  const shown = columnsIn(layout, sight.left, sight.width, active.column - 1)
  const rows = rowsIn(from, to, count, active.row)
  const range = anchor ? rangeOf(anchor, active) : null
  const fieldAt = (column: number): Field | undefined => columns[column - 1]?.field
  const { save, refused, dialog } = useSave(
    resource,
    asked.expand ?? '',
    ({ record, field, value }, error) => {
      const column = columns.findIndex(one => one.field.internal_name === field.internal_name) + 1
      const row = rows.find(index => window.rowAt(index)?.id === record.id)
      if (row !== undefined && column > 0) edit({ row, column }, { draft: value, error })
    },
  )

  const reveal = ({ row, column }: Cell) => {
    const element = scroller.current
    if (!element || row < 0) return
    const covered = height + (hasSums ? height : 0)
    const [top, bottom] = [row * height, (row + 1) * height - element.clientHeight + covered]
    if (element.scrollTop > top) element.scrollTop = top
    else if (element.scrollTop < bottom) element.scrollTop = bottom
    const place = columns[column - 1]
    if (!place || place.isFrozen) return
    if (element.scrollLeft > place.left - layout.frozen) element.scrollLeft = place.left - layout.frozen
    const end = place.left + place.width - element.clientWidth
    if (element.scrollLeft < end) element.scrollLeft = end
  }
  const go = (cell: Cell, isExtended = false) => {
    setAnchor(isExtended ? (anchor ?? active) : null)
    setActive(cell)
    reveal(cell)
    wantsFocus.current = true
  }
  useLayoutEffect(() => {
    if (!wantsFocus.current || editing) return
    const cell = scroller.current?.querySelector<HTMLElement>(`[data-cell="${active.row}.${active.column}"]`)
    if (!cell) return
    wantsFocus.current = false
    cell.focus({ preventScroll: true })
  })

  const edit = ({ row, column }: Cell, more: Pick<Editing, 'draft' | 'error'> | object = {}) => {
    const record = window.rowAt(row)
    const field = fieldAt(column)
    if (!record || !field || field.is_read_only || reason) return false
    editedCell.current = scroller.current?.querySelector(`[data-cell="${row}.${column}"]`) ?? null
    setActive({ row, column })
    setAnchor(null)
    setEditing({ row, column, record, field, ...more })
    return true
  }
  const leave = (then: Then) => {
    if (!editing) return
    setEditing(null)
    wantsFocus.current = true
    if (then === 'stay') return
    const step = then === 'next' ? 1 : -1
    for (let column = editing.column + step; column > 0 && column <= columns.length; column += step) {
      const field = fieldAt(column)!
      if (field.is_read_only) continue
      go({ row: editing.row, column })
      // When the cell is drawn, it can be edited.
      requestAnimationFrame(() => edit({ row: editing.row, column }))
      return
    }
  }
  const toggle = (row: number, isRange: boolean) => {
    const record = window.rowAt(row)
    if (!record) return
    const isWanted = !isSelected(selection, record.id)
    const [first, last] = isRange
      ? [Math.min(lastToggled.current, row), Math.max(lastToggled.current, row)]
      : [row, row]
    const ids: number[] = []
    for (let at = first; at <= last; at++) {
      const one = window.rowAt(at)
      if (one) ids.push(one.id)
    }
    lastToggled.current = row
    onSelect(selected(selection, ids, isRange || isWanted))
  }
  const lastToggled = useRef(0)
  const selectedCount = countSelected(selection, count)
  const toggleAll = () => onSelect(selectedCount > 0 ? nothing : everything)

  const onHeadKey = (event: React.KeyboardEvent, field: Field | undefined) => {
    const { key, shiftKey, ctrlKey } = event
    const name = field?.internal_name
    if (!name) {
      if (key !== ' ' && key !== 'Enter') return false
      toggleAll()
      return true
    }
    if (key === 'Enter' || key === ' ') {
      if (field.is_sortable) actions.sort(name, shiftKey)
      return true
    }
    if (key === 'ArrowDown' && event.altKey) {
      const cell = event.currentTarget.querySelector(`[data-cell="-1.${active.column}"] [data-menu]`)
      ;(cell as HTMLElement | null)?.click()
      return true
    }
    if (!shiftKey || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return false
    const step = key === 'ArrowLeft' ? -1 : 1
    if (ctrlKey) {
      actions.move(name, step)
      go({ row: -1, column: Math.min(Math.max(active.column + step, 1), columns.length) })
    } else actions.resize(name, columns[active.column - 1]!.width + step * 16)
    return true
  }
  const onBodyKey = (event: React.KeyboardEvent, field: Field | undefined) => {
    const { key, shiftKey, ctrlKey, metaKey } = event
    const record = window.rowAt(active.row)
    if (key === ' ' || (key === 'Enter' && !field)) toggle(active.row, shiftKey)
    else if (key === 'Enter' && field?.internal_name === nameField) {
      if (record) onOpen(record.id)
    } else if (key === 'Enter' || key === 'F2') edit(active)
    else if (key === 'Escape' && (range || selectedCount)) {
      setAnchor(null)
      if (!range) onSelect(nothing)
    } else if (key.toLowerCase() === 'a' && (ctrlKey || metaKey)) onSelect(everything)
    else return false
    return true
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    const target = event.target as HTMLElement
    if (event.defaultPrevented || editing || !target.dataset.cell) return
    const field = fieldAt(active.column)
    const isTaken = active.row < 0 ? onHeadKey(event, field) : onBodyKey(event, field)
    const size = {
      rows: count,
      columns: columns.length + 1,
      page: Math.max(1, Math.floor(sight.height / height) - 3),
    }
    const cell =
      isTaken || event.altKey ? null : next(active, event.key, size, event.ctrlKey || event.metaKey)
    if (cell) go(cell, event.shiftKey && active.row >= 0)
    if (isTaken || cell) event.preventDefault()
  }
  const cellOf = (event: React.MouseEvent): Cell | null => {
    const found = (event.target as HTMLElement).closest<HTMLElement>('[data-cell]')?.dataset.cell?.split('.')
    return found ? { row: Number(found[0]), column: Number(found[1]) } : null
  }
  const onClick = (event: React.MouseEvent) => {
    const target = event.target as HTMLElement
    const cell = cellOf(event)
    if (!cell || target.closest('[data-menu], [data-edge]')) return
    const field = fieldAt(cell.column)
    if (target.closest('[data-open]')) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      const record = window.rowAt(cell.row)
      if (record) onOpen(record.id)
      return
    }
    if (cell.row >= 0) {
      if (cell.column === 0) toggle(cell.row, event.shiftKey)
      go(cell, event.shiftKey && cell.column > 0)
      return
    }
    if (!field) toggleAll()
    else if (field.is_sortable) actions.sort(field.internal_name, event.shiftKey)
    go(cell)
  }
  const clipboard = useClipboard({
    resource,
    window,
    active,
    range,
    rows: count,
    columns,
    expand: asked.expand ?? '',
    reason,
    onRefusals: props.onRefusals,
  })
  const rowHref = useCallback((id: number) => href(id), [href])
  return (
    <>
      <div
        ref={scroller}
        role="grid"
        aria-label={title}
        aria-rowcount={count + 1 + (hasSums ? 1 : 0)}
        aria-colcount={columns.length + 1}
        aria-multiselectable
        aria-busy={window.isFetching}
        className="relative min-h-0 grow overflow-auto border-t border-line bg-surface"
        style={{ scrollPaddingTop: height }}
        tabIndex={-1}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onDoubleClick={event => {
          const cell = cellOf(event)
          if (cell && cell.row >= 0) edit(cell)
        }}
        {...clipboard}
      >
        <div role="rowgroup" className="sticky top-0 z-30" style={{ width: layout.width }}>
          <TableHead
            {...{ layout, shown, height, sort, actions }}
            active={active.row < 0 ? active.column : -1}
            isAllSelected={selectedCount === 0 ? false : selectedCount >= count ? true : 'some'}
          />
        </div>
        <div role="rowgroup" className="relative" style={{ height: count * height, width: layout.width }}>
          {rows.map(index => {
            const record = window.rowAt(index)
            const isInRange = range !== null && index >= range.top && index <= range.bottom
            return (
              <TableRow
                key={index}
                {...{ index, record, layout, shown, height, nameField }}
                href={rowHref}
                isSelected={record !== undefined && isSelected(selection, record.id)}
                active={index === active.row ? active.column : -1}
                from={isInRange ? range.left : -1}
                to={isInRange ? range.right : -1}
                refused={record ? refusedOf(refused, record) : ''}
              />
            )
          })}
        </div>
        {hasSums && (
          <div role="rowgroup" className="sticky bottom-0 z-30" style={{ width: layout.width }}>
            <TableFoot {...{ resource, asked, layout, shown, height }} rowIndex={count + 2} />
          </div>
        )}
      </div>
      {editing && (
        <CellEditor
          key={`${editing.row}.${editing.column}`}
          editing={editing}
          anchor={editedCell}
          height={height}
          width={columns[editing.column - 1]?.width ?? 200}
          onCancel={() => leave('stay')}
          onSave={(value, then) => {
            const { record, field } = editing
            leave(then)
            if (JSON.stringify(value ?? null) !== JSON.stringify(record[field.internal_name] ?? null))
              void save({ record, field, value })
          }}
        />
      )}
      {dialog}
    </>
  )
}

function refusedOf(refused: ReadonlySet<string>, { id }: AnyRecord): string {
  const prefix = `${id}.`
  return [...refused].flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])).join()
}
