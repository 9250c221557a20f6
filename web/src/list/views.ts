/** Saved views: the list parameters of an address, under a name. The address overrides the view. */
import { queryOptions } from '@tanstack/react-query'
import { type AnyRecord, callApi, DealwrightError } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { parseColumns, printColumns } from '../records/table/columns.ts'
import { preferences } from '../shell/preferences.ts'

export type ViewMode = 'table' | 'board'

/** The list parameters of an address, as texts; undefined means the default. */
export type ListParameters = {
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  readonly columns?: string | undefined
  readonly pipeline?: string | undefined
  /** the field by which rows are grouped */
  readonly group?: string | undefined
}

export type View = AnyRecord & {
  readonly name: string
  readonly filter: string | null
  readonly sort: string | null
  readonly columns: readonly { readonly field: string; readonly width: number | null }[] | null
  readonly pipeline: number | null
  /** `group_by`: the field by which rows are grouped (D171) */
  readonly metadata: { readonly [name: string]: unknown } | null
  /** 1: yes */
  readonly is_shared: 1 | 2
  readonly created_by: number | null
}

const modes = { table: 'Table', board: 'Board' } as const

/** The views of a list; none if the caller may not read views. */
export const viewsQuery = (source: string, mode: ViewMode) =>
  queryOptions({
    queryKey: ['all', 'view', source, mode],
    queryFn: () =>
      callApi<View[]>('GET', '/view/view/list', {
        query: {
          filter: `source:eq(${source}),mode:eq(${modes[mode]})`,
          sort: 'position:asc,name:asc',
          pageSize: 500,
          count: 'none',
        },
      }).catch((error): View[] => {
        if (error instanceof DealwrightError && error.status === 403) return []
        throw error
      }),
    staleTime: 600_000,
  })

export const parametersOfView = ({ filter, sort, columns, pipeline, metadata }: View): ListParameters => ({
  filter: filter ?? undefined,
  sort: sort ?? undefined,
  columns: columns?.length
    ? printColumns(columns.map(({ field, width }) => ({ field, width: width ?? undefined })))
    : undefined,
  pipeline: pipeline === null ? undefined : String(pipeline),
  group: typeof metadata?.group_by === 'string' ? metadata.group_by : undefined,
})

/**
 * The list for an address without one: that of its view, or of the default view; null if there is none, or if
 * the views can't be read.
 */
export async function listOfView(
  source: string,
  mode: ViewMode,
  search: ListParameters & { readonly view?: string | undefined },
) {
  const id = search.view ?? preferences().defaultViews[`${source} ${mode}`]
  if (id === undefined || !hasNoParameters(search)) return null
  const views = await queryClient.fetchQuery(viewsQuery(source, mode)).catch((): View[] => [])
  const view = views.find(one => String(one.id) === String(id))
  if (!view) return null
  const { columns, group, ...shared } = parametersOfView(view)
  // Addresses of boards have none of both: they would be left out, and the view be looked up for ever.
  const list = mode === 'board' ? shared : { ...shared, columns, group }
  return hasNoParameters(list) ? null : { ...list, view: String(view.id) }
}

/** The members of a view that stores the list. `before` is the view that is saved again. */
export const viewBody = (
  source: string,
  mode: ViewMode,
  { filter, sort, columns, pipeline, group }: ListParameters,
  before?: View,
) => ({
  source,
  mode: modes[mode],
  filter: filter || null,
  sort: sort || null,
  columns: columns ? parseColumns(columns) : [],
  pipeline: pipeline ? Number(pipeline) : null,
  metadata: withGroup(before?.metadata ?? {}, group),
})

function withGroup({ group_by: _before, ...others }: NonNullable<View['metadata']>, group?: string) {
  return group ? { ...others, group_by: group } : others
}

const names = ['filter', 'sort', 'columns', 'pipeline', 'group'] as const

/** True if an address has no list parameters. */
export const hasNoParameters = (shown: ListParameters): boolean => names.every(name => !shown[name])

/** True if two lists are the same, with the defaults for missing parameters. */
export const isSame = (one: ListParameters, other: ListParameters, defaults: ListParameters): boolean =>
  names.every(name => (one[name] || defaults[name] || '') === (other[name] || defaults[name] || ''))
