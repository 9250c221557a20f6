/** The amount won in a period, compared with the same part of the previous period. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { sumsQuery } from './parts.tsx'
import {
  all,
  baseValueOf,
  comparablePeriods,
  type Days,
  daysOf,
  dealsPath,
  type Period,
  within,
} from './periods-and-sums.ts'
import { useBase } from './use-base.ts'

type WonProps = {
  /** which deals are won, as a filter */
  isWon: string
  period: Period
  isInAmounts: boolean
}

export function WonFigure({ isWon, period, isInAmounts }: WonProps) {
  const base = useBase()
  const whole = useWon(isWon, daysOf(period), isInAmounts)
  if (whole === undefined) return null
  return (
    <div>
      <dt className="text-sm text-ink-soft">Won</dt>
      <dd className="tabular text-xl font-semibold">{isInAmounts ? base.full(whole) : base.deals(whole)}</dd>
      <Comparison isWon={isWon} period={period} isInAmounts={isInAmounts} />
    </div>
  )
}

function Comparison({ isWon, period, isInAmounts }: WonProps) {
  const format = useFormat()
  const base = useBase()
  const compared = comparablePeriods(period, format.today())
  const { passed, before } = compared ?? { passed: null, before: null }
  const is = useWon(isWon, passed, isInAmounts)
  const was = useWon(isWon, before, isInAmounts)
  if (!passed || is === undefined || was === undefined) return null
  const isUnderWay = passed.last !== daysOf(period).last
  return (
    <dd className="text-sm text-ink-soft">
      {/* A short amount, such as $0, is wide enough to be hit. */}
      <a className="linked -mx-2 px-2 tabular underline" href={dealsPath(filterOf(isWon, before))}>
        {isInAmounts ? base.full(was) : base.deals(was)}
      </a>{' '}
      {isUnderWay && `by ${format.date(before.last)} `}
      in the {period.months === 1 ? 'month' : `${format.number(period.months)} months`} before
      {was > 0 && `: ${is >= was ? '+' : ''}${format.percent((is / was - 1) * 100)}`}
    </dd>
  )
}

const filterOf = (isWon: string, { first, last }: Days) => all(isWon, within('deal_closed_on', first, last))

/** The amount or number of deals won on some days; undefined until it is loaded. */
function useWon(isWon: string, days: Days | null, isInAmounts: boolean): number | undefined {
  const filter = days ? filterOf(isWon, days) : ''
  const { data } = useQuery({ ...sumsQuery({ filter }), enabled: days !== null })
  if (!data) return undefined
  return isInAmounts ? baseValueOf(data[0]) : (data[0]?.count ?? 0)
}
