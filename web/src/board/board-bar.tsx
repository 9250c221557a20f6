/** What narrows and orders the board. It is loaded after the cards, which are what people came for. */
import { FilterBar } from '../list/filter-bar.tsx'
import { SortMenu } from '../list/sort-menu.tsx'
import { usualSort } from './board-query.ts'

type Props = {
  filter: string
  sort: string
  error: unknown
  onChange: (changes: { filter?: string | undefined; sort?: string | undefined }) => void
}

export function BoardBar({ filter, sort, error, onChange }: Props) {
  return (
    <>
      <div className="min-w-0 grow">
        <FilterBar
          source="deal"
          filter={filter}
          onChange={next => onChange({ filter: next || undefined })}
          error={error}
        />
      </div>
      <SortMenu
        source="deal"
        sort={sort}
        onChange={next => onChange({ sort: next === usualSort ? undefined : next })}
      />
    </>
  )
}
