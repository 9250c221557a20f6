/** What narrows and orders the board. It is loaded after the cards, which are what people came for. */
import { useEffect } from 'react'
import { FilterBar } from '../list/filter-bar.tsx'
import { SortMenu } from '../list/sort-menu.tsx'
import { useView } from '../list/use-view.ts'
import { ViewMenu } from '../list/view-menu.tsx'
import { isBare, type ShownList, shownBy, type View } from '../list/views.ts'
import { usualSort } from './board-query.ts'

type Search = {
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  readonly pipeline?: string | undefined
  readonly view?: string | undefined
}

type Props = { search: Search; error: unknown; onChange: (changes: Search) => void }

const usual = { sort: usualSort }

export function BoardBar({ search, error, onChange }: Props) {
  const { filter = '', sort = usualSort, pipeline } = search
  const inUse = useView('deal', 'board', search, usual)
  const show = ({ filter, sort, pipeline }: ShownList, view: View | null) =>
    onChange({ filter, sort, pipeline, view: view ? String(view.id) : undefined })
  // An address that says nothing shows the view with which somebody begins here.
  const begun = isBare({ filter, sort: search.sort, pipeline }) ? inUse.view : null
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each view
  useEffect(() => {
    if (begun && !isBare(shownBy(begun))) show(shownBy(begun), begun)
  }, [begun?.id])
  const change = (changes: Search) => {
    const next = { filter: filter || undefined, sort, ...changes }
    // Under a view all of it is said: an address without a word would mean the view's.
    const isUsual = !inUse.view && next.sort === usualSort
    onChange({ ...next, sort: isUsual ? undefined : next.sort })
  }
  return (
    <>
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
    </>
  )
}
