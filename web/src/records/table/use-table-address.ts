/** The list of a table page from its address and saved view, and changes of that list. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { fieldsQuery, isExpandable } from '../../api/queries.ts'
import { printSort, toggleSort } from '../../list/sort.ts'
import { readSort } from '../../list/sort-menu.tsx'
import { useView } from '../../list/use-view.ts'
import { parametersOf } from '../../list/use-view-actions.ts'
import type { ListParameters } from '../../list/views.ts'
import { groupingOf } from '../groups/groupable.ts'
import { type Collapsed, parseCollapsed, printCollapsed } from '../groups/grouping.ts'
import { nameFieldsOf, type TableName, tables } from '../tables.ts'
import { type Column, columnsOf, printColumns, resized, shifted, toggled } from './columns.ts'
import type { HeadActions } from './table-head.tsx'

const route = getRouteApi('/shell/$table')

type Name = 'filter' | 'sort' | 'columns' | 'group' | 'collapsed' | 'deleted' | 'view'
type Search = { readonly [name in Name]?: string | undefined }
type SortedParameters = ListParameters & { readonly sort: string }

export function useTableAddress(table: TableName) {
  const { resource, name: _name, ...initial } = tables[table]
  const search: Search = route.useSearch()
  const navigate = useNavigate()
  const inUse = useView(resource, 'table', search, { sort: initial.sort, columns: initial.columns })
  const { filter = '', sort = initial.sort, columns: columnsText = initial.columns } = inUse.shown
  const isDeleted = search.deleted !== undefined
  const { data: sections } = useSuspenseQuery(fieldsQuery(resource))
  const fields = useMemo(() => sections.flat().filter(({ is_active }) => is_active), [sections])
  const columns = useMemo(() => columnsOf(columnsText, fields), [columnsText, fields])
  const { group } = inUse.shown
  const grouping = useMemo(() => groupingOf(group, fields), [group, fields])
  const collapsed = useMemo(() => parseCollapsed(search.collapsed), [search.collapsed])

  const shownFields = columns.map(({ field }) => field).sort()
  const nameFields = nameFieldsOf(table).filter(name => fields.some(one => one.internal_name === name))
  const wanted = [...new Set(['id', 'version', ...nameFields, ...shownFields])].join()
  const expand = shownFields
    .filter(shown => fields.some(field => field.internal_name === shown && isExpandable(field)))
    .join()
  const request = useMemo(
    () => ({
      ...(filter ? { filter } : {}),
      ...(sort ? { sort } : {}),
      fields: wanted,
      ...(expand ? { expand } : {}),
      ...(isDeleted ? { deleted: 'only' as const } : {}),
    }),
    [filter, sort, wanted, expand, isDeleted],
  )

  const show = useCallback(
    (changes: Search | ((before: Search) => Search), replace = false) =>
      void navigate({
        to: '/$table',
        params: { table },
        search: before => ({ ...before, ...(typeof changes === 'function' ? changes(before) : changes) }),
        replace,
        // Another list begins at its top (use-active.ts); the router would restore the last scroll position.
        resetScroll: false,
      }),
    [navigate, table],
  )
  /**
   * Changes the list and writes all of it into the address, so that a link doesn't depend on the view. `make`
   * gets the list of the current address: the first of two quick presses may not be rendered yet.
   */
  const change = (make: (now: SortedParameters) => Search, replace = false) =>
    show(before => {
      const { view, shown } = inUse.of(before)
      const now = { ...shown, sort: shown.sort ?? initial.sort }
      return { ...now, ...(view ? { view: String(view.id) } : {}), ...make(now) }
    }, replace)
  const changeColumns = (make: (now: readonly Column[]) => readonly Column[]) =>
    change(now => ({ columns: printColumns(make(columnsOf(now.columns ?? initial.columns, fields))) }), true)
  const actions: HeadActions = {
    sort: (field, isBeside) =>
      change(now => ({ sort: printSort(toggleSort(readSort(now.sort), field, isBeside)) })),
    sortTo: (field, direction) => change(() => ({ sort: printSort([{ field, direction }]) })),
    resize: (field, width) => changeColumns(now => resized(now, field, width)),
    move: (field, by) => changeColumns(now => shifted(now, field, by)),
    hide: field => changeColumns(now => toggled(now, field)),
  }
  /** the parameters of the list, with those of its view: a record's address keeps them for the way back */
  const list = parametersOf({ ...search, ...inUse.shown, sort }, inUse.view)
  const collapse = (next: Collapsed) => show({ collapsed: printCollapsed(next) }, true)
  return {
    ...{ inUse, filter, sort, isDeleted, fields, columns, request, grouping, collapsed },
    ...{ list, show, change, changeColumns, collapse, actions },
  }
}

export type TableAddress = ReturnType<typeof useTableAddress>
