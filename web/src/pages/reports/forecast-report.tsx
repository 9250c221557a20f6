/** Forecast: open deals by the month in which they are expected to close, beside won deals. */
import { ForecastByCategory } from './forecast-by-category.tsx'
import { ForecastByCurrency } from './forecast-by-currency.tsx'
import { ForecastByMonth } from './forecast-by-month.tsx'
import { forecastFilters } from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'

export function ForecastReport({ search, ...props }: ReportProps) {
  const filters = forecastFilters(search, props.period)
  return (
    <>
      <ForecastByMonth filters={filters} {...props} />
      <ForecastByCategory filters={filters} {...props} />
      {props.isInAmounts && <ForecastByCurrency filters={filters} />}
    </>
  )
}
