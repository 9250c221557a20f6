/** The forecast by forecast category, as a chart or as a table. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { Bars } from '../../ui/chart.tsx'
import type { Bar } from '../../ui/chart-parts.tsx'
import { Panel } from '../../ui/page.tsx'
import { NumberTable, sumsQuery, useOpen, WhenLoaded } from './parts.tsx'
import {
  all,
  baseValueOf,
  dealsPath,
  type ForecastFilters,
  type Group,
  isGroup,
  weightedValueOf,
} from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'
import { type BaseFormat, useBase } from './use-base.ts'

type Props = Pick<ReportProps, 'isTable' | 'isInAmounts'> & { filters: ForecastFilters }

type Category = {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly best: number
  readonly weighted: number
  readonly filter: string
}

export function ForecastByCategory({ filters, isTable, isInAmounts }: Props) {
  const sums = useQuery(sumsQuery({ filter: filters.expected, group_by: 'forecast_category' }))
  const categories = (sums.data ?? []).map(group => categoryOf(group, filters))
  return (
    <Panel className="p-4" title="By forecast category" detail="The open deals of these months.">
      <WhenLoaded of={[sums]}>
        {() =>
          isTable ? (
            <CategoryTable categories={categories} isInAmounts={isInAmounts} />
          ) : (
            <CategoryChart categories={categories} isInAmounts={isInAmounts} />
          )
        }
      </WhenLoaded>
    </Panel>
  )
}

function categoryOf(group: Group, { expected }: ForecastFilters): Category {
  return {
    id: String(group.group),
    name: group.name ?? 'No category',
    count: group.count ?? 0,
    best: baseValueOf(group),
    weighted: weightedValueOf(group),
    filter: all(expected, isGroup('forecast_category', group.group)),
  }
}

type ViewProps = { categories: readonly Category[]; isInAmounts: boolean }

function CategoryTable({ categories, isInAmounts }: ViewProps) {
  const format = useFormat()
  const base = useBase()
  return (
    <NumberTable
      label="Forecast by category"
      columns={['Category', 'Open deals', 'Best case', 'Weighted']}
      without={isInAmounts ? [] : ['Best case', 'Weighted']}
      rows={categories.map(({ id, name, count, best, weighted, filter }) => ({
        id,
        name,
        cells: [
          { text: format.number(count), filter },
          { text: base.full(best), filter },
          { text: base.full(weighted), filter },
        ],
      }))}
    />
  )
}

function CategoryChart({ categories, isInAmounts }: ViewProps) {
  const base = useBase()
  const onOpen = useOpen()
  const barOf = isInAmounts ? amountBar : countBar
  return (
    <Bars
      label="Forecast by category"
      onOpen={onOpen}
      bars={categories.map(category => barOf(category, base))}
    />
  )
}

function amountBar({ id, name, count, best, weighted, filter }: Category, base: BaseFormat): Bar {
  const href = dealsPath(filter)
  const label = (series: string, value: number) =>
    `${name}, ${series}: ${base.full(value)}, ${base.deals(count)}`
  return {
    id,
    name,
    text: base.short(best),
    detail: base.deals(count),
    marks: [
      { value: weighted, look: 'solid', name: label('weighted', weighted), href },
      { value: best - weighted, look: 'hatched', name: label('best case', best), href },
    ],
  }
}

function countBar({ id, name, count, filter }: Category, base: BaseFormat): Bar {
  const text = base.deals(count)
  const href = dealsPath(filter)
  return { id, name, text, marks: [{ value: count, look: 'solid', name: `${name}: ${text}`, href }] }
}
