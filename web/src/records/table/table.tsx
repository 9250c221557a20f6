/**
 * The grid: any place of the list by its scrollbar, its cells by the keys of the APG's grid. The order, the
 * columns and what is shown are the page's; which cell is active is the grid's own.
 */
import { useRef } from 'react'
import type { AnyRecord } from '../../api/api.ts'
import type { ListAsked } from '../../api/queries.ts'
import type { SortKey } from '../../list/sort.ts'
import { useCommands } from '../../shell/commands.ts'
import { usePreferences } from '../../shell/preferences.ts'
import { ReadingFailed } from '../../shell/reading-failed.tsx'
import { toastError } from '../../ui/toast.tsx'
import {
  countSelected,
  everything,
  isSelected,
  nothing,
  type Selection,
  selected,
} from '../bulk/selection.ts'
import { CellEditor } from '../grid/cell-editor.tsx'
import { gridEvents } from '../grid/grid-events.ts'
import { keysToRead, keysToWrite } from '../grid/grid-keys.ts'
import { useActive } from '../grid/use-active.ts'
import { useCellSave } from '../grid/use-cell-save.tsx'
import { useClipboard } from '../grid/use-clipboard.ts'
import { useEditing } from '../grid/use-editing.ts'
import { columnsIn, type Layout } from './layout.ts'
import { TableFoot } from './table-foot.tsx'
import { type HeadActions, TableHead } from './table-head.tsx'
import { TableRow } from './table-row.tsx'
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
  /** what the page says already that went wrong */
  failure: unknown
}

export function Table(props: Props) {
  const { resource, title, nameField, asked, layout, sort, hasSums, reason, selection, onSelect } = props
  const { actions, href, onOpen, total } = props
  const height = usePreferences().density === 'compact' ? 30 : 36
  const { columns } = layout
  useCommands(reason ? keysToRead : keysToWrite)
  const { editing, edit, leave, cell } = useEditing({
    active: () => active,
    rowAt: () => window.rowAt,
    columns,
    reason,
  })
  const list = [asked.filter, asked.sort, asked.deleted].join()
  const scroller = useRef<HTMLDivElement>(null)
  const sight = useScroll(scroller)
  const count = Math.min(total?.count ?? Math.ceil(sight.height / height), rowsMax)
  const covered = hasSums ? height * 2 : height
  const active = useActive({
    scroller,
    layout,
    height,
    covered,
    isEditing: editing !== null,
    list,
    rows: count,
  })
  const from = Math.floor(sight.top / height)
  const to = Math.ceil((sight.top + sight.height) / height)
  const window = useWindow(resource, asked, from, to)
  const shown = columnsIn(layout, sight.left, sight.width, active.cell.column - 1)
  const rows = rowsIn(from, to, count, active.cell.row)
  const { range } = active
  const { save, refused, dialog } = useCellSave(
    resource,
    asked.expand ?? '',
    ({ record, field, value }, error) => {
      const column = columns.findIndex(one => one.field.internal_name === field.internal_name) + 1
      const row = rows.find(index => window.rowAt(index)?.id === record.id)
      if (row !== undefined && column > 0) edit({ row, column }, { draft: value, error })
    },
  )
  const lastToggled = useRef({ list, row: 0 })
  const toggle = (row: number, isRange: boolean) => {
    const record = window.rowAt(row)
    if (!record) return
    const isWanted = isRange || !isSelected(selection, record.id)
    // Another filter or order has other rows: a range begins anew there.
    const begin = isRange && lastToggled.current.list === list ? lastToggled.current.row : row
    const [first, last] = [Math.min(begin, row), Math.max(begin, row)]
    const ids: number[] = []
    for (let at = first; at <= last; at++) {
      const one = window.rowAt(at)
      if (one) ids.push(one.id)
    }
    lastToggled.current = { list, row }
    onSelect(selected(selection, ids, isWanted))
    const missing = last - first + 1 - ids.length
    if (missing) toastError(sayUnread(missing))
  }
  const selectedCount = countSelected(selection, count)
  const events = gridEvents({
    active,
    columns,
    nameField,
    edit,
    toggle,
    actions,
    rows: count,
    page: Math.max(1, Math.floor(sight.height / height) - 3),
    isEditing: editing !== null,
    hasSelected: selectedCount > 0,
    rowAt: window.rowAt,
    open: onOpen,
    toggleAll: () => onSelect(selectedCount > 0 ? nothing : everything),
    selectAll: () => onSelect(everything),
    selectNothing: () => onSelect(nothing),
  })
  const clipboard = useClipboard({
    resource,
    window,
    active: active.cell,
    range,
    rows: count,
    columns,
    expand: asked.expand ?? '',
    reason,
    onRefusals: props.onRefusals,
  })
  return (
    <>
      <ReadingFailed error={window.error === props.failure ? null : window.error} onRetry={window.retry} />
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
        {...events}
        {...clipboard}
      >
        <div role="rowgroup" className="sticky top-0 z-30" style={{ width: layout.width }}>
          <TableHead
            {...{ layout, shown, height, sort, actions }}
            active={active.cell.row < 0 ? active.cell.column : -1}
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
                href={href}
                isSelected={record !== undefined && isSelected(selection, record.id)}
                active={index === active.cell.row ? active.cell.column : -1}
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
          anchor={cell}
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

function sayUnread(rows: number): string {
  return rows === 1
    ? 'One row between has not been read yet. It is not selected.'
    : `${rows} rows between have not been read yet. They are not selected.`
}

function refusedOf(refused: ReadonlySet<string>, { id }: AnyRecord): string {
  const prefix = `${id}.`
  return [...refused].flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])).join()
}
