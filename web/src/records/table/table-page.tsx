/** The page of a resource's table: its head, the table or on phones cards, and bulk actions. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Plus, Trash2 } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo } from 'react'
import { useFormat } from '../../format/use-format.tsx'
import { readSort } from '../../list/sort-menu.tsx'
import { LoadError } from '../../shell/load-error.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { openNew } from '../../shell/new-record.tsx'
import { Button } from '../../ui/button.tsx'
import { DialogLoading } from '../../ui/elements.tsx'
import { PageHead } from '../../ui/page.tsx'
import { useMedia } from '../../ui/use-media.ts'
import { BulkBar, FailuresDialog } from '../bulk/bulk-bar.tsx'
import type { BulkAction } from '../bulk/run-action.ts'
import { nothingSelected } from '../bulk/selection.ts'
import { useBulk } from '../bulk/use-bulk.ts'
import { useBulkJob } from '../bulk/use-bulk-job.ts'
import { useSelection } from '../bulk/use-selection.ts'
import { groupsMax, toggled } from '../groups/grouping.ts'
import { useGroups } from '../groups/use-groups.ts'
import { nameFieldsOf, type TableName, tables } from '../tables.ts'
import { Cards } from './cards.tsx'
import { EmptyTable } from './empty-table.tsx'
import { layoutOf } from './layout.ts'
import { Table } from './table.tsx'
import { TableToolbar } from './table-toolbar.tsx'
import { type TableAddress, useTableAddress } from './use-table-address.ts'
import { rowsMax, type Total, useTotal } from './use-window.ts'

const BulkJobDialog = lazy(() =>
  import('../bulk/bulk-job-dialog.tsx').then(module => ({ default: module.BulkJobDialog })),
)

const route = getRouteApi('/shell/$table')

export function TablePage() {
  const { table } = route.useParams()
  // Another table is another page.
  return <ResourceTable key={table} table={table as TableName} />
}

function ResourceTable({ table }: { table: TableName }) {
  const { resource, one, title, name } = tables[table]
  const address = useTableAddress(table)
  const { filter, sort, isDeleted, fields, columns, request, grouping, collapsed } = address
  const { show, change, collapse, actions } = address
  const reason = useReadOnlyReason(resource)
  const isPhone = useMedia('(max-width: 639px)')
  const isNarrow = useMedia('(max-width: 899px)')
  const format = useFormat()
  const [selection, setSelection] = useSelection(`${isDeleted} ${filter}`)
  const clearSelection = () => setSelection(nothingSelected)
  const bulk = useBulk(resource, { one, many: title.toLowerCase(), nameFields: nameFieldsOf(table) })
  const job = useBulkJob(resource)
  const layout = useMemo(() => layoutOf(columns, fields, isNarrow), [columns, fields, isNarrow])
  const { total, error, retry } = useTotal(resource, request)
  const count = total?.count ?? 0
  const links = useRecordLinks(table, address.list)
  const groups = useGroups({
    ...{ resource, request, grouping, collapsed },
    columns: columns.flatMap(({ field: name }) => fields.find(one => one.internal_name === name) ?? []),
    onToggle: key => collapse(toggled(collapsed, key)),
  })
  const shared = {
    groups,
    resource,
    title,
    request,
    layout,
    ...links,
    total,
    failure: error,
  }
  const run = async (action: BulkAction) => {
    const hasBegun = await (action.type === 'change' && job.does(action, selection, count)
      ? job.begin(action.values, request, selection)
      : bulk.run(action, request, selection))
    if (hasBegun) clearSelection()
    return hasBegun
  }
  return (
    <main className="flex min-h-0 grow flex-col">
      <TableHeading
        {...{ table, isDeleted, total, reason }}
        onDeleted={isWanted => show({ deleted: isWanted ? 'only' : undefined })}
      />
      <TableToolbar {...{ table, address, error, selection, count }} />
      {total?.count === 0 && (
        <EmptyTable
          {...{ title, one, resource, reason, filter, isDeleted }}
          onClear={() => change(() => ({ filter: undefined }))}
        />
      )}
      <LoadError error={error} onRetry={retry} />
      <div className={total?.count === 0 || (error && !total) ? 'hidden' : 'flex min-h-0 grow flex-col'}>
        {isPhone ? (
          <Cards {...shared} nameFields={nameFieldsOf(table)} />
        ) : (
          <Table
            {...{ ...shared, selection, actions }}
            nameField={name}
            sort={readSort(sort)}
            reason={isDeleted ? 'Deleted records can’t be changed. Restore them first.' : reason}
            onSelect={setSelection}
            onRefusals={list =>
              bulk.setFailures({
                title: `${list.length} ${list.length === 1 ? 'cell was' : 'cells were'} refused`,
                count: list.length,
                list,
              })
            }
          />
        )}
      </div>
      {(groups?.rows ?? count) > rowsMax && (
        <p className="border-t border-line px-4 py-1.5 text-sm text-ink-soft">
          The table goes as far as row {format.number(rowsMax)}. Filter or sort it to see the others.
        </p>
      )}
      {groups && groups.sections.length >= groupsMax && (
        <p className="border-t border-line px-4 py-1.5 text-sm text-ink-soft">
          These are the {format.number(groupsMax)} largest groups. Filter the table to see the others.
        </p>
      )}
      <BulkBar
        {...{ resource, request, fields, selection, reason }}
        total={count}
        summed={layout.columns.map(({ field }) => field)}
        progress={bulk.progress}
        onStop={() => {
          bulk.stop()
          job.stop()
        }}
        onClear={clearSelection}
        onRun={run}
      />
      {job.id !== null && (
        <Suspense fallback={<DialogLoading label="Change all" />}>
          <BulkJobDialog resource={resource} id={job.id} onClose={job.close} />
        </Suspense>
      )}
      {bulk.failures && <FailuresDialog failures={bulk.failures} onClose={() => bulk.setFailures(null)} />}
    </main>
  )
}

/** The address of a record's page, which stores the list it was opened from. */
function useRecordLinks(table: TableName, list: TableAddress['list']) {
  const navigate = useNavigate()
  const search = new URLSearchParams(list).toString()
  const href = useCallback((id: number) => `/${table}/${id}?${search}`, [table, search])
  const onOpen = (id: number) =>
    void navigate({ to: '/$table/$id', params: { table, id: String(id) }, search: list })
  return { href, onOpen }
}

function TableHeading(props: {
  table: TableName
  isDeleted: boolean
  total: Total | null
  reason: string | undefined
  onDeleted: (isWanted: boolean) => void
}) {
  const { table, isDeleted, total, reason, onDeleted } = props
  const { resource, one, title } = tables[table]
  const format = useFormat()
  return (
    <PageHead
      title={isDeleted ? `Deleted ${title.toLowerCase()}` : title}
      detail={
        // As wide as most counts from the beginning, so that the buttons don't wrap when it comes.
        <span role="status" className="inline-block min-w-[7ch] tabular">
          {total && format.total(total.count, total.isEstimate)}
        </span>
      }
    >
      <Button variant="quiet" isSmall onPress={() => onDeleted(!isDeleted)}>
        <Trash2 size={14} aria-hidden />
        {isDeleted ? 'Back to all' : 'Deleted'}
      </Button>
      <Button variant="primary" reason={reason} onPress={() => openNew(resource)}>
        <Plus size={15} aria-hidden /> New {one}
      </Button>
    </PageHead>
  )
}
