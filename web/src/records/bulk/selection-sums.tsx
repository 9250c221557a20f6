/** The sums of the selected records, beside their number. */
import { useQuery } from '@tanstack/react-query'
import type { Field } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { useDebounced } from '../../ui/use-debounced.ts'
import { Sum } from '../table/sum.tsx'
import { groupsQuery, summedOf } from '../table/sums.ts'
import { conditionsOf, idsMax, type Selection } from './selection.ts'

export function SelectionSums(props: {
  resource: string
  request: ListRequest
  selection: Selection
  /** the fields to add up, if they can be */
  fields: readonly Field[]
}) {
  const { resource, request, selection, fields } = props
  const names = summedOf(fields)
  const isEmpty = !selection.isAll && selection.ids.size === 0
  // Debounced: rows are often selected one after the other.
  const filter = useDebounced(JSON.stringify(conditionsOf(selection, request.filter)), 200)
  const { data } = useQuery({
    ...groupsQuery(resource, { filter: JSON.parse(filter), deleted: request.deleted, fields: names }),
    enabled: names.length > 0 && selection.ids.size <= idsMax && !isEmpty,
    placeholderData: before => before,
  })
  const sums = data?.[0]
  if (!sums) return null
  const known = fields.filter(({ internal_name }) => names.includes(internal_name))
  return (
    <dl aria-label="Sums of the selected" className="flex min-w-0 flex-wrap gap-x-4">
      {known.map(({ internal_name, field_name }) => (
        <div key={internal_name} className="flex items-baseline gap-1.5">
          <dt className="text-ink-soft">{field_name}</dt>
          <dd className="font-medium whitespace-nowrap">
            <Sum sums={sums} name={internal_name} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
