/** The forecast of each owner then and now, and what changed it. A name leads to that owner's changes. */
import { Link } from '@tanstack/react-router'
import { Panel } from '../../ui/page.tsx'
import { type Changes, columnsOfOwners, forecastOf, type Measure, sumOf } from './changes.ts'
import { NumberTable } from './parts.tsx'
import type { Search } from './periods-and-sums.ts'
import { useMeasured } from './use-measured.ts'

export function ChangesByOwner(props: { changes: Changes; measure: Measure; search: Search }) {
  const { changes, measure, search } = props
  const { full, signed } = useMeasured(measure)
  const cells = ({ before, after, steps }: Pick<Changes, 'before' | 'after' | 'steps'>) => [
    { text: full(forecastOf(before, measure)) },
    ...columnsOfOwners.map(({ kinds }) => ({ text: signed(sumOf(steps, kinds, measure)) })),
    { text: full(forecastOf(after, measure)) },
  ]
  return (
    <Panel
      className="p-4"
      title="By owner"
      detail="A deal that is handed over has left one forecast and come into another."
    >
      <NumberTable
        label="Changes by owner"
        columns={['Owner', 'Then', ...columnsOfOwners.map(({ name }) => name), 'Now']}
        rows={(changes.owners ?? []).map(owner => ({
          id: String(owner.sales_owner?.id ?? 'nobody'),
          name: owner.sales_owner ? (
            <Link
              to="/forecast"
              search={{ ...search, owner: String(owner.sales_owner.id) }}
              className="linked"
            >
              {owner.sales_owner.name ?? `No. ${owner.sales_owner.id}`}
            </Link>
          ) : (
            'Nobody'
          ),
          cells: cells(owner),
        }))}
        total={{ id: 'all', name: 'Everybody', cells: cells(changes) }}
      />
    </Panel>
  )
}
