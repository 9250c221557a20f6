/** The toolbar of the board: view, filter and order. It is loaded after the cards, which matter more. */
import { useEffect } from 'react'
import { FilterBar } from '../list/filter-bar.tsx'
import { SortMenu } from '../list/sort-menu.tsx'
import { useView } from '../list/use-view.ts'
import { ViewMenu } from '../list/view-menu.tsx'
import { hasNoParameters, type ListParameters, parametersOfView, type View } from '../list/views.ts'
import { usePreferences } from '../shell/preferences.ts'
import { defaultSort } from './board-query.ts'

type Search = {
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  readonly pipeline?: string | undefined
  readonly view?: string | undefined
}

type Props = { search: Search; error: unknown; onChange: (changes: Search) => void }

const defaults = { sort: defaultSort }

export function BoardBar({ search, error, onChange }: Props) {
  const { filter = '', sort = defaultSort, pipeline } = search
  const inUse = useView('deal', 'board', search, defaults)
  const { defaultViews } = usePreferences()
  const show = ({ filter, sort, pipeline }: ListParameters, view: View | null) =>
    onChange({ filter, sort, pipeline, view: view ? String(view.id) : undefined })
  // An address without parameters shows the user's default view.
  const begun = hasNoParameters({ filter, sort: search.sort, pipeline }) ? inUse.view : null
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each view
  useEffect(() => {
    if (begun && !hasNoParameters(parametersOfView(begun))) show(parametersOfView(begun), begun)
  }, [begun?.id])
  const change = (changes: Search) => {
    const next = { filter: filter || undefined, sort, ...changes }
    // With a view, the address has all parameters: a missing one would mean the view's. So would none, with a
    // default view.
    const isUsual = !inUse.view && !defaultViews['deal board'] && next.sort === defaultSort
    onChange({ ...next, sort: isUsual ? undefined : next.sort })
  }
  return (
    // In one line on a phone: the cards are there already, and would move under a finger.
    <div className="flex min-h-8 flex-wrap items-center gap-2 max-sm:w-max max-sm:min-w-full">
      <ViewMenu inUse={inUse} all="All deals" onShow={show} />
      <div className="min-w-0 grow">
        <FilterBar
          source="deal"
          filter={filter}
          onChange={next => change({ filter: next || undefined })}
          error={error}
        />
      </div>
      <SortMenu source="deal" sort={sort} onChange={next => change({ sort: next })} />
    </div>
  )
}
