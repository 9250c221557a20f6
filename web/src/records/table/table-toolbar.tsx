/** The toolbar of a table: its view, filter, order and columns, import and export. */
import { FilterBar } from '../../list/filter-bar.tsx'
import { SortMenu } from '../../list/sort-menu.tsx'
import { ViewMenu } from '../../list/view-menu.tsx'
import type { Selection } from '../bulk/selection.ts'
import { GroupMenu } from '../groups/group-menu.tsx'
import { type TableName, tables } from '../tables.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { ExportMenu } from './export-menu.tsx'
import { ImportLink } from './import-link.tsx'
import type { TableAddress } from './use-table-address.ts'

export function TableToolbar(props: {
  table: TableName
  address: TableAddress
  /** error of the list, such as an invalid filter */
  error: unknown
  selection: Selection
  /** number of matching records */
  count: number
}) {
  const { table, address, error, selection, count } = props
  const { inUse, filter, sort, isDeleted, fields, columns, grouping, collapsed } = address
  const { show, change, changeColumns, collapse } = address
  const { resource, title } = tables[table]
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 px-4 pb-2">
      <ViewMenu
        inUse={inUse}
        all={`All ${title.toLowerCase()}`}
        onShow={({ filter, sort, columns, group }, view) => {
          const named = view ? String(view.id) : undefined
          show({ filter, sort, columns, group, collapsed: undefined, view: named })
        }}
      />
      <div className="min-w-0 grow">
        <FilterBar
          source={resource}
          filter={filter}
          error={error}
          onChange={next => {
            change(() => ({ filter: next || undefined }))
          }}
        />
      </div>
      <SortMenu source={resource} sort={sort} onChange={next => change(() => ({ sort: next }))} />
      <GroupMenu
        {...{ fields, grouping, collapsed }}
        onGroup={group => change(() => ({ group, collapsed: undefined }))}
        onCollapse={collapse}
      />
      {!isDeleted && <ImportLink resource={resource} />}
      {!isDeleted && <ExportMenu {...{ resource, fields, filter, sort, selection, count }} />}
      <ColumnsMenu
        {...{ fields, columns }}
        onChange={next => changeColumns(() => next)}
        onReset={() => change(() => ({ columns: undefined }), true)}
      />
    </div>
  )
}
