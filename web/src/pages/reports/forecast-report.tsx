/** What will close, and how sure: open deals by the month in which they are expected, beside what was won. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { Bars, StackedBars } from '../../ui/chart.tsx'
import { Legend } from '../../ui/chart-parts.tsx'
import type { ReportProps } from '../forecast.tsx'
import { NotIn } from './not-in.tsx'
import { barOf, seriesOf } from './open-and-won.ts'
import { Answered, NumberTable, ReportPanel, sumsQuery, useOpen } from './parts.tsx'
import {
  all,
  chosen,
  currencyRows,
  daysOf,
  dealsPath,
  isGroup,
  lastDayOf,
  monthRows,
  within,
} from './reports.ts'
import { useBase } from './use-base.ts'
import { WonFigure } from './won-figure.tsx'

export function ForecastReport({ search, period, isTable, isInAmounts }: ReportProps) {
  const format = useFormat()
  const base = useBase()
  const onOpen = useOpen()
  const { first, last } = daysOf(period)
  const own = chosen(search)
  // Lost deals never count.
  const isOpen = all('status:eq(Open)', ...own)
  const isWon = all('status:eq(Won)', ...own)
  const inPeriod = all(isOpen, within('expected_close_date', first, last))
  const open = useQuery(sumsQuery({ filter: inPeriod, group_by: 'expected_close_date:month' }))
  const won = useQuery(
    sumsQuery({
      filter: all(isWon, within('deal_closed_on', first, last)),
      group_by: 'deal_closed_on:month',
    }),
  )
  const total = useQuery(sumsQuery({ filter: inPeriod }))
  const categories = useQuery(sumsQuery({ filter: inPeriod, group_by: 'forecast_category' }))
  const rows = monthRows(period, open.data ?? [], won.data ?? [])
  const openIn = (month: string) => all(isOpen, within('expected_close_date', month, lastDayOf(month)))
  const wonIn = (month: string) => all(isWon, within('deal_closed_on', month, lastDayOf(month)))
  const sum = total.data?.[0]
  const without = isInAmounts ? [] : ['Best case', 'Weighted', 'Won']
  const bestOf = (value: number | undefined) => base.full(value ?? 0)
  return (
    <>
      <ReportPanel
        title="By month"
        detail={`Open deals by the month in which they are expected${isInAmounts ? `, in ${base.code ?? 'the base currency'}: at their full value (best case), and weighted by the probability of their stage` : ''}. Won deals by the month in which they were closed. Lost deals never count.`}
      >
        <Answered of={[open, won, total]}>
          {() =>
            isTable ? (
              <NumberTable
                label="Forecast by month"
                columns={['Month', 'Open deals', 'Best case', 'Weighted', 'Won deals', 'Won']}
                without={without}
                rows={rows.map(row => ({
                  id: row.month,
                  name: format.month(row.month),
                  cells: [
                    { text: format.number(row.count), filter: openIn(row.month) },
                    { text: base.full(row.best), filter: openIn(row.month) },
                    { text: base.full(row.weighted), filter: openIn(row.month) },
                    { text: format.number(row.wonCount), filter: wonIn(row.month) },
                    { text: base.full(row.won), filter: wonIn(row.month) },
                  ],
                }))}
                total={{
                  id: 'total',
                  name: 'Together',
                  cells: [
                    { text: format.number(sum?.count ?? 0), filter: inPeriod },
                    { text: bestOf(sum?.deal_value_in_base_currency?.value), filter: inPeriod },
                    { text: bestOf(sum?.weighted_value_in_base_currency?.value), filter: inPeriod },
                    { text: '' },
                    { text: '' },
                  ],
                }}
              />
            ) : (
              <div className="flex flex-col gap-3">
                <dl className="flex flex-wrap gap-x-8 gap-y-2">
                  {isInAmounts && (
                    <>
                      <Figure name="Best case" text={bestOf(sum?.deal_value_in_base_currency?.value)} />
                      <Figure name="Weighted" text={bestOf(sum?.weighted_value_in_base_currency?.value)} />
                    </>
                  )}
                  <Figure name="Open deals" text={format.number(sum?.count ?? 0)} />
                  <WonFigure isWon={isWon} period={period} isInAmounts={isInAmounts} />
                </dl>
                <Legend series={seriesOf(isInAmounts)} />
                <StackedBars
                  label="Forecast by month"
                  axis={isInAmounts ? base.short : format.number}
                  onOpen={onOpen}
                  bars={rows.map(row =>
                    barOf(
                      {
                        ...row,
                        id: row.month,
                        name: format.month(row.month),
                        openFilter: openIn(row.month),
                        wonFilter: wonIn(row.month),
                      },
                      isInAmounts,
                      base,
                    ),
                  )}
                />
              </div>
            )
          }
        </Answered>
        <NotIn
          isOpen={isOpen}
          first={first}
          last={last}
          withoutRate={sum?.without_rate ?? 0}
          isInAmounts={isInAmounts}
        />
      </ReportPanel>
      <ReportPanel title="By forecast category" detail="The open deals of these months.">
        <Answered of={[categories]}>
          {() => {
            const groups = categories.data ?? []
            const nameOf = (name: string | null | undefined) => name ?? 'No category'
            if (isTable)
              return (
                <NumberTable
                  label="Forecast by category"
                  columns={['Category', 'Open deals', 'Best case', 'Weighted']}
                  without={without}
                  rows={groups.map(({ group, name, count, ...values }) => {
                    const filter = all(inPeriod, isGroup('forecast_category', group))
                    return {
                      id: String(group),
                      name: nameOf(name),
                      cells: [
                        { text: format.number(count ?? 0), filter },
                        { text: bestOf(values.deal_value_in_base_currency?.value), filter },
                        { text: bestOf(values.weighted_value_in_base_currency?.value), filter },
                      ],
                    }
                  })}
                />
              )
            return (
              <Bars
                label="Forecast by category"
                onOpen={onOpen}
                bars={groups.map(({ group, name, count = 0, ...values }) => {
                  const best = values.deal_value_in_base_currency?.value ?? 0
                  const weighted = values.weighted_value_in_base_currency?.value ?? 0
                  const href = dealsPath(all(inPeriod, isGroup('forecast_category', group)))
                  const said = (what: string, value: number) =>
                    `${nameOf(name)}, ${what}: ${base.full(value)}, ${base.deals(count)}`
                  return {
                    id: String(group),
                    name: nameOf(name),
                    text: isInAmounts ? base.short(best) : base.deals(count),
                    detail: isInAmounts && base.deals(count),
                    marks: isInAmounts
                      ? [
                          { value: weighted, look: 'solid', name: said('weighted', weighted), href },
                          { value: best - weighted, look: 'hatched', name: said('best case', best), href },
                        ]
                      : [
                          {
                            value: count,
                            look: 'solid',
                            name: `${nameOf(name)}: ${base.deals(count)}`,
                            href,
                          },
                        ],
                  }
                })}
              />
            )
          }}
        </Answered>
      </ReportPanel>
      {isInAmounts && (
        <ReportPanel title="By currency" detail="The same deals, each in its own currency.">
          <Answered of={[total]}>
            {() => (
              <NumberTable
                label="Forecast by currency"
                columns={['Currency', 'Best case', 'Weighted']}
                rows={currencyRows(sum).map(({ code, best, weighted }) => {
                  const money = (value: number) => format.money({ value, currency_code: code })
                  const filter = all(inPeriod, `deal_value.currency:eq(${code})`)
                  return {
                    id: code,
                    name: code,
                    cells: [
                      { text: money(best), filter },
                      { text: money(weighted), filter },
                    ],
                  }
                })}
                total={{
                  id: 'base',
                  name: `Together, in ${base.code ?? 'the base currency'}`,
                  cells: [
                    { text: bestOf(sum?.deal_value_in_base_currency?.value) },
                    { text: bestOf(sum?.weighted_value_in_base_currency?.value) },
                  ],
                }}
              />
            )}
          </Answered>
        </ReportPanel>
      )}
    </>
  )
}

function Figure({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt className="text-sm text-ink-soft">{name}</dt>
      <dd className="tabular text-xl font-semibold">{text}</dd>
    </div>
  )
}
