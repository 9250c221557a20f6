/** Selects a whole group by its header (D171): its records are read, also those that are not shown. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { announce, toastError } from '../../ui/toast.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { readSelected } from '../bulk/read-selected.ts'
import {
  conditionsOf,
  everythingSelected,
  idsMax,
  isSelected,
  type Selection,
  selected,
} from '../bulk/selection.ts'
import { groupsQuery, type SumsRequest } from '../table/sums.ts'
import { keyOf, type Section } from './grouping.ts'

export type GroupSelection = {
  /** `some`: a part of the group is selected */
  readonly stateOf: (group: Section) => boolean | 'some'
  readonly toggle: (group: Section) => void
  /** the group that is read; null: none is */
  readonly reading: string | null
}

export function useGroupSelection(props: {
  resource: string
  request: ListRequest
  /** by which sums are grouped; undefined: the table has no groups */
  by: string | undefined
  /** identifies the list: a group of another one is read no longer */
  list: string
  selection: Selection
  onSelect: (selection: Selection) => void
}): GroupSelection {
  const { resource, request, by, list, selection, onSelect } = props
  const { number } = useFormat()
  const [reading, setReading] = useState<string | null>(null)
  const stop = useRef<AbortController>(null)
  // Rows may be selected while a group is read.
  const latest = useRef(selection)
  useEffect(() => {
    latest.current = selection
  }, [selection])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list ends what is read of this one
  useEffect(() => () => stop.current?.abort(), [list])
  const counts = useCounts(resource, request, by, selection)
  const change = (group: Section, ids: readonly number[]) => {
    const isWanted = !ids.every(id => isSelected(latest.current, id))
    const next = selected(latest.current, ids, isWanted)
    if (next.ids.size > idsMax) return toastError(describeTooMany(group, number(idsMax)))
    onSelect(next)
    announce(`${group.label}: ${isWanted ? number(ids.length) : 'none'} selected`)
  }
  const read = async (group: Section) => {
    const ending = new AbortController()
    stop.current = ending
    setReading(group.key)
    try {
      const rows = await readSelected(resource, group.request, everythingSelected, [], ending.signal)
      change(
        group,
        rows.map(({ id }) => id),
      )
    } catch (error) {
      if (!ending.signal.aborted) toastError(errorMessage(error))
    }
    if (stop.current !== ending) return
    stop.current = null
    setReading(null)
  }
  return {
    reading,
    stateOf: ({ key, sums }) => {
      const count = counts.get(key) ?? 0
      return count === 0 ? false : count >= sums.count ? true : 'some'
    },
    toggle: group => {
      if (reading !== null) return
      if (group.sums.count > idsMax) toastError(describeTooMany(group, number(idsMax)))
      else void read(group)
    },
  }
}

/** The number of selected records of each group, also of those that are not shown. */
function useCounts(
  resource: string,
  { filter, deleted }: ListRequest,
  by: string | undefined,
  selection: Selection,
): ReadonlyMap<string, number> {
  const isEmpty = !selection.isAll && selection.ids.size === 0
  // Debounced: rows are often selected one after the other.
  const found = useDebounced(isEmpty ? '' : JSON.stringify(conditionsOf(selection, filter)), 100)
  const conditions = found ? (JSON.parse(found) as readonly string[]) : []
  const { data } = useQuery({
    ...groupsQuery(resource, { filter: conditions, deleted, fields: [], group_by: by ?? '' }),
    enabled: by !== undefined && found !== '' && selection.ids.size <= idsMax,
    placeholderData: (before, query) => (isGroupedBy(by, query?.queryKey) ? before : undefined),
  })
  return new Map(isEmpty ? [] : data?.map(sums => [keyOf(sums), sums.count]))
}

const isGroupedBy = (by: string | undefined, key: readonly unknown[] = []) =>
  (key[2] as SumsRequest | undefined)?.group_by === by

const describeTooMany = ({ label }: Section, most: string) =>
  `${label} was not selected: at most ${most} rows can be selected so. Filter the table by it, and select all.`
