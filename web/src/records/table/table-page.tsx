/**
 * The page of a resource's table. The address says what it shows; a saved view fills in what it doesn't say.
 */
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Plus, Trash2 } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { fieldsQuery } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { FilterBar } from '../../list/filter-bar.tsx'
import { pressed, printSort } from '../../list/sort.ts'
import { readSort, SortMenu } from '../../list/sort-menu.tsx'
import { useView } from '../../list/use-view.ts'
import { ViewMenu } from '../../list/view-menu.tsx'
import type { ShownList } from '../../list/views.ts'
import { useReadOnlyReason } from '../../shell/me.ts'
import { openNew } from '../../shell/new-record.tsx'
import { ReadingFailed } from '../../shell/reading-failed.tsx'
import { Opening } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { PageHead } from '../../ui/page.tsx'
import { useMedia } from '../../ui/use-media.ts'
import { BulkBar, FailuresDialog } from '../bulk/bulk-bar.tsx'
import { nothing, type Selection } from '../bulk/selection.ts'
import { useBulk } from '../bulk/use-bulk.ts'
import { useBulkJob } from '../bulk/use-bulk-job.ts'
import { type TableName, tables } from '../tables.ts'
import { Cards } from './cards.tsx'
import { type Column, columnsOf, printColumns, resized, shifted, toggled } from './columns.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { ExportMenu } from './export-menu.tsx'
import { ImportLink } from './import-link.tsx'
import { layoutOf } from './layout.ts'
import { NothingListed } from './nothing-listed.tsx'
import { Table } from './table.tsx'
import type { HeadActions } from './table-head.tsx'
import { rowsMax, useTotal } from './use-window.ts'

const BulkJobDialog = lazy(() =>
  import('../bulk/bulk-job-dialog.tsx').then(module => ({ default: module.BulkJobDialog })),
)

const route = getRouteApi('/shell/$table')

export function TablePage() {
  const { table } = route.useParams()
  // Another table is another page: nothing of what was selected stays.
  return <ResourceTable key={table} table={table as TableName} />
}

type Search = { readonly [name in 'filter' | 'sort' | 'columns' | 'deleted' | 'view']?: string | undefined }
type ShownNow = ShownList & { readonly sort: string }

function ResourceTable({ table }: { table: TableName }) {
  const spec = tables[table]
  const { resource, one, title, name } = spec
  const search: Search = route.useSearch()
  const inUse = useView(resource, 'table', search, { sort: spec.sort, columns: spec.columns })
  const { shown } = inUse
  const sort = shown.sort ?? spec.sort
  const filter = shown.filter ?? ''
  const navigate = useNavigate()
  const format = useFormat()
  const { data: sections } = useSuspenseQuery(fieldsQuery(resource))
  const reason = useReadOnlyReason(resource)
  const isPhone = useMedia('(max-width: 639px)')
  const isNarrow = useMedia('(max-width: 899px)')
  const [selection, setSelection] = useState<Selection>(nothing)
  const bulk = useBulk(resource, { one, many: title.toLowerCase(), nameField: name })
  const job = useBulkJob(resource)
  const fields = useMemo(() => sections.flat().filter(({ is_active }) => is_active), [sections])
  const columns = useMemo(
    () => columnsOf(shown.columns ?? spec.columns, fields),
    [shown.columns, spec.columns, fields],
  )
  const layout = useMemo(() => layoutOf(columns, fields, isNarrow), [columns, fields, isNarrow])
  const names = columns.map(({ field }) => field).sort()
  const expand = names
    .filter(wanted => fields.some(field => field.internal_name === wanted && field.is_expandable))
    .join()
  const wanted = [...new Set(['id', 'version', name, ...names])].join()
  const asked = useMemo(
    () => ({
      ...(filter ? { filter } : {}),
      ...(sort ? { sort } : {}),
      fields: wanted,
      ...(expand ? { expand } : {}),
      ...(search.deleted ? { deleted: 'only' as const } : {}),
    }),
    [filter, sort, wanted, expand, search.deleted],
  )
  const show = useCallback(
    (changes: Search | ((before: Search) => Search), replace = false) =>
      void navigate({
        to: '/$table',
        params: { table },
        search: before => ({ ...before, ...(typeof changes === 'function' ? changes(before) : changes) }),
        replace,
        // Another list begins at its top (use-active.ts); the router would put it where the last one was.
        resetScroll: false,
      }),
    [navigate, table],
  )
  /**
   * Changes what is shown. The whole of it stands in the address then: a link says what its view said. `make`
   * gets what is shown by the address as it is: of two quick presses the first may not be drawn yet.
   */
  const change = (make: (now: ShownNow) => Search, replace = false) =>
    show(before => {
      const { view, shown } = inUse.of(before)
      const now = { ...shown, sort: shown.sort ?? spec.sort }
      return { ...now, ...(view ? { view: String(view.id) } : {}), ...make(now) }
    }, replace)
  const changeColumns = (make: (now: readonly Column[]) => readonly Column[]) =>
    change(now => ({ columns: printColumns(make(columnsOf(now.columns ?? spec.columns, fields))) }), true)
  const actions: HeadActions = {
    sort: (field, isBeside) =>
      change(now => ({ sort: printSort(pressed(readSort(now.sort), field, isBeside)) })),
    sortTo: (field, direction) => change(() => ({ sort: printSort([{ field, direction }]) })),
    resize: (field, width) => changeColumns(now => resized(now, field, width)),
    move: (field, by) => changeColumns(now => shifted(now, field, by)),
    hide: field => changeColumns(now => toggled(now, field)),
  }
  const listed = new URLSearchParams({ ...(filter ? { filter } : {}), sort }).toString()
  const href = useCallback((id: number) => `/${table}/${id}?${listed}`, [table, listed])
  const open = (id: number) =>
    void navigate({
      to: '/$table/$id',
      params: { table, id: String(id) },
      search: { ...(filter ? { filter } : {}), sort },
    })
  const setFilter = (next: string) => {
    setSelection(nothing)
    change(() => ({ filter: next || undefined }))
  }
  const { total, error, retry } = useTotal(resource, asked)
  const shared = {
    resource,
    title,
    nameField: name,
    asked,
    layout,
    href,
    onOpen: open,
    total,
    failure: error,
  }
  return (
    <main className="flex min-h-0 grow flex-col">
      <PageHead
        title={search.deleted ? `Deleted ${title.toLowerCase()}` : title}
        detail={
          <span role="status" className="tabular">
            {total && `${total.isEstimate ? 'about ' : ''}${format.number(total.count)}`}
          </span>
        }
      >
        <Button
          look="quiet"
          isSmall
          onPress={() => {
            setSelection(nothing)
            show({ deleted: search.deleted ? undefined : 'only' })
          }}
        >
          <Trash2 size={14} aria-hidden />
          {search.deleted ? 'Back to the others' : 'Deleted'}
        </Button>
        <Button look="primary" reason={reason} onPress={() => openNew(resource)}>
          <Plus size={15} aria-hidden /> New {one}
        </Button>
      </PageHead>
      <div className="flex shrink-0 flex-wrap items-center gap-2 px-4 pb-2">
        <ViewMenu
          inUse={inUse}
          all={`All ${title.toLowerCase()}`}
          onShow={(next, view) => {
            setSelection(nothing)
            const { filter, sort, columns } = next
            show({ filter, sort, columns, view: view ? String(view.id) : undefined })
          }}
        />
        <div className="min-w-0 grow">
          <FilterBar source={resource} filter={filter} onChange={setFilter} error={error} />
        </div>
        <SortMenu source={resource} sort={sort} onChange={next => change(() => ({ sort: next }))} />
        {!search.deleted && <ImportLink resource={resource} />}
        {!search.deleted && <ExportMenu {...{ resource, fields, filter, sort }} />}
        <ColumnsMenu
          {...{ fields, columns }}
          onChange={next => changeColumns(() => next)}
          onReset={() => change(() => ({ columns: undefined }), true)}
        />
      </div>
      {total?.count === 0 ? (
        <NothingListed
          {...{ title, one, resource, reason, filter }}
          isDeleted={search.deleted !== undefined}
          onClear={() => setFilter('')}
        />
      ) : null}
      <ReadingFailed error={error} onRetry={retry} />
      <div className={total?.count === 0 || (error && !total) ? 'hidden' : 'flex min-h-0 grow flex-col'}>
        {isPhone ? (
          <Cards {...shared} />
        ) : (
          <Table
            {...shared}
            sort={readSort(sort)}
            hasSums={spec.hasSums}
            reason={search.deleted ? 'What is deleted can’t be changed. Restore it first.' : reason}
            {...{ selection, actions }}
            onSelect={setSelection}
            onRefusals={list =>
              bulk.setFailures({
                title: `${list.length} ${list.length === 1 ? 'cell was' : 'cells were'} refused`,
                list,
              })
            }
          />
        )}
      </div>
      {(total?.count ?? 0) > rowsMax && (
        <p className="border-t border-line px-4 py-1.5 text-sm text-ink-soft">
          The table goes as far as row {format.number(rowsMax)}. Filter or sort it to see the others.
        </p>
      )}
      <BulkBar
        {...{ resource, asked, fields, selection, reason }}
        total={total?.count ?? 0}
        progress={bulk.progress}
        onStop={bulk.stop}
        onClear={() => setSelection(nothing)}
        onRun={deed => {
          if (deed.type === 'change' && job.does(deed, selection, total?.count ?? 0))
            void job.begin(deed.values, asked, selection)
          else void bulk.run(deed, asked, selection)
          setSelection(nothing)
        }}
      />
      {job.id !== null && (
        <Suspense fallback={<Opening label="Change all" />}>
          <BulkJobDialog resource={resource} id={job.id} onClose={job.close} />
        </Suspense>
      )}
      {bulk.failures && <FailuresDialog failures={bulk.failures} onClose={() => bulk.setFailures(null)} />}
    </main>
  )
}
