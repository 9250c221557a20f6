/** The groups of a table from one request of sums, with their rows; another one when a record changes. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { Field } from '../../api/api.ts'
import { type ListRequest, queryClient } from '../../api/queries.ts'
import { useChoices } from '../../fields/options.ts'
import { useFormat } from '../../format/use-format.tsx'
import { groupsQuery, summedOf } from '../table/sums.ts'
import { useStable } from '../table/use-stable.ts'
import { type Collapsed, type Grouping, groupsOf, type Section, sectionsOf } from './grouping.ts'

export type Groups = {
  /** identifies field and list */
  readonly by: string
  readonly sections: readonly Section[]
  /** number of rows, of headers and records */
  readonly rows: number
  readonly error: unknown
  readonly retry: () => void
  readonly isFetching: boolean
  readonly toggle: (key: string) => void
}

type Grouped = {
  readonly resource: string
  readonly request: ListRequest
  /** null: the table has no groups */
  readonly grouping: Grouping | null
  readonly collapsed: Collapsed
  /** the columns, of which the groups have sums */
  readonly columns: readonly Field[]
  readonly onToggle: (key: string) => void
}

export function useGroups(props: Grouped): Groups | null {
  const { resource, request, grouping, collapsed, columns, onToggle } = props
  const format = useFormat()
  const choices = useStable(useChoices(grouping?.field ?? columns[0]!))
  const { filter, deleted } = request
  const fields = summedOf(columns)
  const { data, error, refetch, isFetching } = useQuery({
    ...groupsQuery(resource, { filter, deleted, fields, group_by: grouping?.by ?? '' }),
    enabled: grouping !== null,
  })
  const groups = useMemo(
    () => (grouping && data ? groupsOf(grouping, data, request, choices, format) : []),
    [grouping, data, request, choices, format],
  )
  const shown = useMemo(() => sectionsOf(groups, collapsed), [groups, collapsed])
  const list = [grouping?.by, filter, deleted].join()
  useOtherGroups(resource, list, groups.map(({ key, sums }) => `${key} ${sums.count}`).join())
  if (!grouping) return null
  return {
    ...{ by: grouping.by, ...shown, error, isFetching, toggle: onToggle },
    retry: () => void refetch(),
  }
}

/** Records that have left a group or joined one: the rows of all groups are read anew. */
function useOtherGroups(resource: string, list: string, counts: string): void {
  const before = useRef({ list: '', counts: '' })
  useEffect(() => {
    const { current } = before
    if (current.list === list && current.counts && counts && current.counts !== counts)
      void queryClient.invalidateQueries({ queryKey: ['list', resource] })
    before.current = { list, counts }
  }, [resource, list, counts])
}
