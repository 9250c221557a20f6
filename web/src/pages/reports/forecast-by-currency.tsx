/** The forecast by currency: open deals in each, and the total in the base currency. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { Panel } from '../../ui/page.tsx'
import { NumberTable, sumsQuery, WhenLoaded } from './parts.tsx'
import { all, baseValueOf, currencyRows, type ForecastFilters, weightedValueOf } from './periods-and-sums.ts'
import { useBase } from './use-base.ts'

export function ForecastByCurrency({ filters }: { filters: ForecastFilters }) {
  const format = useFormat()
  const base = useBase()
  const sums = useQuery(sumsQuery({ filter: filters.expected }))
  const total = sums.data?.[0]
  return (
    <Panel className="p-4" title="By currency" detail="The same deals, each in its own currency.">
      <WhenLoaded of={[sums]}>
        {() => (
          <NumberTable
            label="Forecast by currency"
            columns={['Currency', 'Best case', 'Weighted']}
            rows={currencyRows(total).map(({ code, best, weighted }) => {
              const money = (value: number) => format.money({ value, currency_code: code })
              const filter = all(filters.expected, `deal_value.currency:eq(${code})`)
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
              name: `Total, in ${base.code ?? 'the base currency'}`,
              cells: [{ text: base.full(baseValueOf(total)) }, { text: base.full(weightedValueOf(total)) }],
            }}
          />
        )}
      </WhenLoaded>
    </Panel>
  )
}
