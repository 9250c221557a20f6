/** What was won in a period, beside the period of the same length before it. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { sumsQuery } from './parts.tsx'
import { all, daysOf, dealsPath, monthAfter, type Period, within } from './reports.ts'
import { useBase } from './use-base.ts'

/** `isWon`: which deals are won, as a filter. */
export function WonFigure({
  isWon,
  period,
  isInAmounts,
}: {
  isWon: string
  period: Period
  isInAmounts: boolean
}) {
  const format = useFormat()
  const base = useBase()
  const { from, months } = period
  const filterOf = (of: Period) => {
    const { first, last } = daysOf(of)
    return all(isWon, within('deal_closed_on', first, last))
  }
  const before = filterOf({ from: monthAfter(from, -months), months })
  const now = useQuery(sumsQuery({ filter: filterOf(period) }))
  const then = useQuery(sumsQuery({ filter: before }))
  if (!now.data || !then.data) return null
  const say = isInAmounts ? base.full : base.deals
  const [is, was] = [now.data, then.data].map(
    ([sum]) => (isInAmounts ? sum?.deal_value_in_base_currency?.value : sum?.count) ?? 0,
  )
  return (
    <div>
      <dt className="text-sm text-ink-soft">Won</dt>
      <dd className="tabular text-xl font-semibold">{say(is!)}</dd>
      <dd className="text-sm text-ink-soft">
        <a className="linked tabular underline" href={dealsPath(before)}>
          {say(was!)}
        </a>{' '}
        in the {months === 1 ? 'month' : `${format.number(months)} months`} before
        {was! > 0 && `: ${is! >= was! ? '+' : ''}${format.percent((is! / was! - 1) * 100)}`}
      </dd>
    </div>
  )
}
