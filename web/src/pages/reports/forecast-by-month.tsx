/** The forecast by month: best case, weighted and won, as a chart or as a table. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { StackedBars } from '../../ui/chart.tsx'
import { Legend } from '../../ui/chart-parts.tsx'
import { Panel } from '../../ui/page.tsx'
import { NotInForecast } from './not-in-forecast.tsx'
import { amountColumns, barOf, cellsOf, columns, type OpenAndWon, seriesOf } from './open-and-won.ts'
import { Figure, NumberTable, sumsQuery, useOpen, WhenLoaded } from './parts.tsx'
import {
  all,
  baseValueOf,
  daysOf,
  type ForecastFilters,
  type Group,
  monthRows,
  weightedValueOf,
  within,
} from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'
import { useBase } from './use-base.ts'
import { WonFigure } from './won-figure.tsx'

type Props = Omit<ReportProps, 'search'> & { filters: ForecastFilters }
type ViewProps = Props & { rows: readonly OpenAndWon[]; total: Group | undefined }

export function ForecastByMonth(props: Props) {
  const { filters, period, isTable, isInAmounts } = props
  const format = useFormat()
  const base = useBase()
  const { first, last } = daysOf(period)
  const open = useQuery(sumsQuery({ filter: filters.expected, group_by: 'expected_close_date:month' }))
  const won = useQuery(
    sumsQuery({
      filter: all(filters.won, within('deal_closed_on', first, last)),
      group_by: 'deal_closed_on:month',
    }),
  )
  const sums = useQuery(sumsQuery({ filter: filters.expected }))
  const total = sums.data?.[0]
  const rows = monthRows(period, open.data ?? [], won.data ?? []).map(row => ({
    ...row,
    id: row.month,
    name: format.month(row.month),
    openFilter: filters.openIn(row.month),
    wonFilter: filters.wonIn(row.month),
  }))
  const amounts = `, in ${base.code ?? 'the base currency'}: at their full value (best case), and weighted by the probability of their stage`
  return (
    <Panel
      className="p-4"
      title="By month"
      detail={`Open deals by the month in which they are expected${isInAmounts ? amounts : ''}. Won deals by the month in which they were closed. Lost deals never count.`}
    >
      <WhenLoaded of={[open, won, sums]}>
        {() =>
          isTable ? (
            <MonthTable {...props} rows={rows} total={total} />
          ) : (
            <MonthChart {...props} rows={rows} total={total} />
          )
        }
      </WhenLoaded>
      <NotInForecast
        isOpen={filters.open}
        first={first}
        last={last}
        withoutRate={total?.without_rate ?? 0}
        isInAmounts={isInAmounts}
      />
    </Panel>
  )
}

function MonthTable({ filters, isInAmounts, rows, total }: ViewProps) {
  const format = useFormat()
  const base = useBase()
  return (
    <NumberTable
      label="Forecast by month"
      columns={['Month', ...columns]}
      without={isInAmounts ? [] : amountColumns}
      rows={rows.map(row => ({ id: row.id, name: row.name, cells: cellsOf(row, base) }))}
      total={{
        id: 'total',
        name: 'Total',
        cells: [
          { text: format.number(total?.count ?? 0), filter: filters.expected },
          { text: base.full(baseValueOf(total)), filter: filters.expected },
          { text: base.full(weightedValueOf(total)), filter: filters.expected },
          { text: '' },
          { text: '' },
        ],
      }}
    />
  )
}

function MonthChart({ filters, period, isInAmounts, rows, total }: ViewProps) {
  const format = useFormat()
  const base = useBase()
  const onOpen = useOpen()
  return (
    <div className="flex flex-col gap-3">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        {isInAmounts && (
          <>
            <Figure name="Best case" text={base.full(baseValueOf(total))} />
            <Figure name="Weighted" text={base.full(weightedValueOf(total))} />
          </>
        )}
        <Figure name="Open deals" text={format.number(total?.count ?? 0)} />
        <WonFigure isWon={filters.won} period={period} isInAmounts={isInAmounts} />
      </dl>
      <Legend series={seriesOf(isInAmounts)} />
      <StackedBars
        label="Forecast by month"
        axis={isInAmounts ? base.short : format.number}
        onOpen={onOpen}
        bars={rows.map(row => barOf(row, isInAmounts, base))}
      />
    </div>
  )
}
