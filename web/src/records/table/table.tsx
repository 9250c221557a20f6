/**
 * The grid: any place of the list by its scrollbar, its cells by the keys of the APG's grid. The page owns
 * the order, the columns and the list; the grid owns the active cell.
 */
import { useRef } from 'react'
import type { SortKey } from '../../../../client/src/filter.ts'
import type { AnyRecord } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { useCommands } from '../../shell/commands.ts'
import { LoadError } from '../../shell/load-error.tsx'
import { usePreferences } from '../../shell/preferences.ts'
import { isSelected, type Selection } from '../bulk/selection.ts'
import { isSame } from '../editing/draft.ts'
import { CellEditor, type Then } from '../grid/cell-editor.tsx'
import { gridEvents } from '../grid/grid-events.ts'
import { keysToRead, keysToWrite } from '../grid/grid-keys.ts'
import { useActive } from '../grid/use-active.ts'
import { useCellSave } from '../grid/use-cell-save.tsx'
import { useClipboard } from '../grid/use-clipboard.tsx'
import { useEditAgain } from '../grid/use-edit-again.ts'
import { useEditing } from '../grid/use-editing.ts'
import { useRowSelection } from '../grid/use-row-selection.ts'
import { useGroupSelection } from '../groups/use-group-selection.ts'
import type { Groups } from '../groups/use-groups.ts'
import { columnsIn, type Layout } from './layout.ts'
import { summedOf } from './sums.ts'
import { TableFoot } from './table-foot.tsx'
import { GroupRow } from './table-group.tsx'
import { type HeadActions, TableHead } from './table-head.tsx'
import { TableRow } from './table-row.tsx'
import { rowsIn, useScroll } from './use-scroll.ts'
import { useStable } from './use-stable.ts'
import { rowsMax, type Total, useWindow } from './use-window.ts'

type Props = {
  resource: string
  title: string
  nameField: string
  request: ListRequest
  /** null until it is loaded */
  total: Total | null
  /** null: the rows are in no groups */
  groups: Groups | null
  layout: Layout
  sort: readonly SortKey[]
  /** reason why nothing can be changed here */
  reason: string | undefined
  selection: Selection
  onSelect: (selection: Selection) => void
  actions: HeadActions
  href: (id: number) => string
  onOpen: (id: number) => void
  onRefusals: (refusals: readonly { name: string; reason: string }[]) => void
  /** an error that the page shows already */
  failure: unknown
}

export function Table(props: Props) {
  const { resource, title, nameField, request, layout, sort, selection, actions, href } = props
  const height = usePreferences().density === 'compact' ? 30 : 36
  const grid = useGrid(props, height)
  const { scroller, active, window, rows, shown, count, hasSums, editing, refused } = grid
  const { range, cell } = active
  useCommands(props.reason ? keysToRead : keysToWrite)
  return (
    <>
      <LoadError error={window.error === props.failure ? null : window.error} onRetry={window.retry} />
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles take a label */}
      <div
        ref={scroller}
        role={props.groups ? 'treegrid' : 'grid'}
        aria-label={title}
        aria-rowcount={count + 1 + (hasSums ? 1 : 0)}
        aria-colcount={layout.columns.length + 1}
        aria-multiselectable
        aria-busy={window.isFetching}
        className="relative min-h-0 grow overflow-auto border-t border-line bg-surface"
        style={{ scrollPaddingTop: height }}
        tabIndex={-1}
        {...grid.events}
      >
        <div role="rowgroup" className="sticky top-0 z-30" style={{ width: layout.width }}>
          <TableHead
            {...{ layout, shown, height, sort, actions }}
            active={cell.row < 0 ? cell.column : -1}
            isAllSelected={grid.isAllSelected}
          />
        </div>
        <div role="rowgroup" className="relative" style={{ height: count * height, width: layout.width }}>
          {rows.map(index => {
            const group = window.groupAt(index)
            if (group)
              return (
                <GroupRow
                  key={`group ${group.key}`}
                  {...{ index, group, layout, shown, height }}
                  isSelected={grid.groupSelection.stateOf(group)}
                  isReading={grid.groupSelection.reading === group.key}
                  active={index === cell.row ? cell.column : -1}
                />
              )
            const record = window.rowAt(index)
            const isInRange = range !== null && index >= range.top && index <= range.bottom
            return (
              <TableRow
                key={index}
                {...{ index, record, layout, shown, height, nameField, href }}
                isInGroup={props.groups !== null}
                isSelected={record !== undefined && isSelected(selection, record.id)}
                active={index === cell.row ? cell.column : -1}
                from={isInRange ? range.left : -1}
                to={isInRange ? range.right : -1}
                refused={record ? refusedOf(refused, record) : ''}
              />
            )
          })}
        </div>
        {hasSums && (
          <div role="rowgroup" className="sticky bottom-0 z-30" style={{ width: layout.width }}>
            <TableFoot {...{ resource, request, layout, shown, height }} rowIndex={count + 2} />
          </div>
        )}
      </div>
      {editing && (
        <CellEditor
          key={`${editing.row}.${editing.column}`}
          editing={editing}
          anchor={grid.editedCell}
          height={height}
          width={layout.columns[editing.column - 1]?.width ?? 200}
          onCancel={() => grid.leave('stay')}
          onSave={grid.saveEdited}
        />
      )}
      {grid.dialog}
      {grid.pasting}
    </>
  )
}

/**
 * The state of the grid: the rows in view, the active cell, its editor, and the handlers of keys and presses.
 */
function useGrid(props: Props, height: number) {
  const { resource, nameField, request, total, groups, layout, reason, selection } = props
  const { columns } = layout
  const hasSums = summedOf(columns.map(({ field }) => field)).length > 0
  const expand = request.expand ?? ''
  const {
    editing,
    edit,
    leave,
    cell: editedCell,
  } = useEditing({
    active: () => active,
    rowAt: () => window.rowAt,
    columns,
    reason,
  })
  const isEditing = editing !== null
  const list = [request.filter, request.sort, request.deleted, groups?.by].join()
  const scroller = useRef<HTMLDivElement>(null)
  const sight = useScroll(scroller)
  const known = groups ? groups.rows : total?.count
  const count = Math.min(known ?? Math.ceil(sight.height / height), rowsMax)
  const covered = hasSums ? height * 2 : height
  const from = Math.floor(sight.top / height)
  const to = Math.ceil((sight.top + sight.height) / height)
  const window = useWindow(resource, request, { first: from, last: to }, groups)
  const { rowAt, groupAt } = window
  const active = useActive({ scroller, layout, height, covered, isEditing, list, rows: count, rowAt })
  // The rows are rendered again only if the columns in view are others.
  const shown = useStable(columnsIn(layout, sight.left, sight.width, active.cell.column - 1))
  const rows = rowsIn(from, to, count, active.cell.row)
  const again = useEditAgain({ active, columns, rows: count, window, edit, open: props.onOpen })
  const { save, refused, dialog } = useCellSave(resource, expand, again)
  const { isAllSelected, ...select } = useRowSelection({
    ...{ selection, onSelect: props.onSelect, list, rowAt },
    count: total?.count ?? 0,
    isHeader: row => groupAt(row) !== undefined,
  })
  const groupSelection = useGroupSelection({
    ...{ resource, request, list, selection, by: groups?.by },
    onSelect: props.onSelect,
  })
  const events = gridEvents({
    ...select,
    active,
    columns,
    nameField,
    edit,
    actions: props.actions,
    groupAt,
    toggleGroup: key => groups?.toggle(key),
    selectGroup: groupSelection.toggle,
    rows: count,
    page: Math.max(1, Math.floor(sight.height / height) - 3),
    isEditing,
    rowAt,
    open: props.onOpen,
  })
  const { dialog: pasting, ...clipboard } = useClipboard({
    resource,
    window,
    active: active.cell,
    range: active.range,
    rows: count,
    columns,
    expand,
    reason,
    onRefusals: props.onRefusals,
  })
  const saveEdited = (value: unknown, then: Then) => {
    if (!editing) return
    const { record, field, row } = editing
    leave(then)
    if (!isSame(value, record[field.internal_name])) void save({ record, field, value, row })
  }
  return {
    ...{ scroller, active, window, rows, shown, count, hasSums, isAllSelected, groupSelection },
    ...{ editing, editedCell, leave, saveEdited, refused, dialog, pasting },
    events: { ...events, ...clipboard },
  }
}

function refusedOf(refused: ReadonlySet<string>, { id }: AnyRecord): string {
  const prefix = `${id}.`
  return [...refused].flatMap(key => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])).join()
}
