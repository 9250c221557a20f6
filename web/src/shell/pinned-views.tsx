/** The pinned views of a list, below its entry in the sidebar. Views that are gone are left out. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { callApi } from '../api/api.ts'
import { pageQuery } from '../api/queries.ts'
import { useFormat } from '../format/use-format.tsx'
import { usePins } from '../list/pins.ts'
import { parametersOfView, type View } from '../list/views.ts'
import { classes, navLink } from '../ui/classes.ts'

const pinnedQuery = (ids: readonly number[]) =>
  queryOptions({
    queryKey: ['all', 'view', 'pinned', ids.toSorted((one, other) => one - other).join()],
    queryFn: ({ signal }) =>
      callApi<View[]>('GET', '/view/view/list', {
        query: { filter: `id:in(${ids.join()})`, pageSize: 500, count: 'none' },
        signal,
      }),
    staleTime: 600_000,
    placeholderData: before => before,
  })

type Props = {
  /** the entry's path and parameters */
  to: '/$table' | '/board'
  params: { readonly table?: string }
  place: string
  /** closes the navigation of a phone */
  onPress: () => void
}

export function PinnedViews({ to, params, place, onPress }: Props) {
  const { ids } = usePins(place)
  const { data = [] } = useQuery({ ...pinnedQuery(ids), enabled: ids.length > 0 })
  const views = ids.flatMap(id => data.find(view => view.id === id) ?? [])
  return views.map(view => {
    const search = Object.entries({ ...parametersOfView(view), view: String(view.id) })
    return (
      <Link
        key={view.id}
        {...{ to, params }}
        search={Object.fromEntries(search.filter(([, value]) => value !== undefined))}
        onClick={onPress}
        className={classes(navLink, 'gap-2 pl-9 text-sm')}
      >
        <span className="min-w-0 grow truncate" dir="auto" title={view.name}>
          {view.name}
        </span>
        {to === '/$table' && <Count view={view} resource={place.split(' ')[0]!} />}
      </Link>
    )
  })
}

/** The number of records that a view finds, as far as it is known. A board shows others. */
function Count({ view, resource }: { view: View; resource: string }) {
  const format = useFormat()
  const { filter } = view
  const { data } = useQuery(pageQuery(resource, { ...(filter ? { filter } : {}), fields: 'id' }, 1, 1))
  const { total = null, totalIsEstimate = false } = data?.meta ?? {}
  if (total === null) return null
  return (
    <span className="tabular shrink-0 text-ink-faint">
      {totalIsEstimate && '~'}
      {format.number(total)}
    </span>
  )
}
