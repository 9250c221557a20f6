/** Saved views: what of a list an address shows, under a name. The address always wins over the view. */
import { queryOptions } from '@tanstack/react-query'
import { type AnyRecord, ask } from '../api/api.ts'
import { parseColumns, printColumns } from '../records/table/columns.ts'

export type ViewMode = 'table' | 'board'

/** What an address says of a list, as texts; left out: the usual. */
export type ShownList = {
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  readonly columns?: string | undefined
  readonly pipeline?: string | undefined
}

export type View = AnyRecord & {
  readonly name: string
  readonly filter: string | null
  readonly sort: string | null
  readonly columns: readonly { readonly field: string; readonly width: number | null }[] | null
  readonly pipeline: number | null
  /** 1: yes */
  readonly is_shared: 1 | 2
  readonly created_by: number | null
}

const modes = { table: 'Table', board: 'Board' } as const

/** Who may see no views has none. */
export const viewsQuery = (source: string, mode: ViewMode) =>
  queryOptions({
    queryKey: ['all', 'view', source, mode],
    queryFn: () =>
      ask<View[]>('GET', '/view/view/list', {
        query: {
          filter: `source:eq(${source}),mode:eq(${modes[mode]})`,
          sort: 'position:asc,name:asc',
          pageSize: 500,
          count: 'none',
        },
      }).catch((): View[] => []),
    staleTime: 600_000,
  })

export const shownBy = ({ filter, sort, columns, pipeline }: View): ShownList => ({
  filter: filter ?? undefined,
  sort: sort ?? undefined,
  columns: columns?.length
    ? printColumns(columns.map(({ field, width }) => ({ field, width: width ?? undefined })))
    : undefined,
  pipeline: pipeline === null ? undefined : String(pipeline),
})

/** The members of a view that keeps what is shown. */
export const viewBody = (source: string, mode: ViewMode, { filter, sort, columns, pipeline }: ShownList) => ({
  source,
  mode: modes[mode],
  filter: filter || null,
  sort: sort || null,
  columns: columns ? parseColumns(columns) : [],
  pipeline: pipeline ? Number(pipeline) : null,
})

const names = ['filter', 'sort', 'columns', 'pipeline'] as const

/** Whether an address says nothing of what it shows. */
export const isBare = (shown: ShownList): boolean => names.every(name => !shown[name])

/** Whether two show the same; `usual` is what is shown where nothing is said. */
export const isSame = (one: ShownList, other: ShownList, usual: ShownList): boolean =>
  names.every(name => (one[name] || usual[name] || '') === (other[name] || usual[name] || ''))
