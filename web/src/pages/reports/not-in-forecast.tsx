/** Open deals that are in no bar of the forecast, so that none is left out in silence. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LoadError } from '../../shell/load-error.tsx'
import { sumsQuery } from './parts.tsx'
import { all } from './periods-and-sums.ts'
import { useBase } from './use-base.ts'

export function NotInForecast(props: {
  isOpen: string
  first: string
  last: string
  withoutRate: number
  isInAmounts: boolean
}) {
  const { isOpen, first, last, withoutRate, isInAmounts } = props
  const base = useBase()
  // A filter by a hidden field would be refused.
  const lacks = isInAmounts
    ? 'or(expected_close_date:isnull(true),deal_value:isnull(true))'
    : 'expected_close_date:isnull(true)'
  const none = all(isOpen, lacks)
  const other = all(isOpen, `or(expected_close_date:lt(${first}),expected_close_date:gt(${last}))`)
  const unknown = useQuery(sumsQuery({ filter: none, measures: 'count' }))
  const elsewhere = useQuery(sumsQuery({ filter: other, measures: 'count' }))
  const lines = [
    {
      filter: none,
      count: unknown.data?.[0]?.count ?? 0,
      why: isInAmounts ? 'without a close date or a value' : 'without a close date',
    },
    { filter: other, count: elsewhere.data?.[0]?.count ?? 0, why: 'expected before or after these months' },
  ].filter(({ count }) => count > 0)
  const failed = [unknown, elsewhere].find(({ data, error }) => data === undefined && error)
  if (failed) return <LoadError error={failed.error} onRetry={() => void failed.refetch()} />
  if (lines.length === 0 && withoutRate === 0) return null
  return (
    <ul className="mt-3 border-t border-line pt-3 text-ink-soft">
      {lines.map(({ filter, count, why }) => (
        <li key={why}>
          Not in this forecast:{' '}
          <Link to="/$table" params={{ table: 'deals' }} search={{ filter }} className="linked">
            {base.deals(count)}
          </Link>{' '}
          {why}
        </li>
      ))}
      {withoutRate > 0 && (
        <li className="text-warn">
          {base.deals(withoutRate)} in a currency without a rate: not in the sums in {base.code}
        </li>
      )}
    </ul>
  )
}
