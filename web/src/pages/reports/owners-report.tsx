/** Open deals of each owner, for any expected date, and deals won in the period. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { Bars } from '../../ui/chart.tsx'
import { Legend } from '../../ui/chart-parts.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { Panel } from '../../ui/page.tsx'
import { amountColumns, barOf, cellsOf, columns, seriesOf } from './open-and-won.ts'
import { NumberTable, sumsQuery, useOpen, WhenLoaded } from './parts.tsx'
import { all, chosen, daysOf, isGroup, ownerRows, within } from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'
import { useBase } from './use-base.ts'

export function OwnersReport({ search, period, isTable, isInAmounts }: ReportProps) {
  const format = useFormat()
  const base = useBase()
  const onOpen = useOpen()
  const { first, last } = daysOf(period)
  const isOpen = all('status:eq(Open)', ...chosen(search))
  const isWon = all('status:eq(Won)', within('deal_closed_on', first, last), ...chosen(search))
  const open = useQuery(sumsQuery({ filter: isOpen, group_by: 'sales_owner' }))
  const won = useQuery(sumsQuery({ filter: isWon, group_by: 'sales_owner' }))
  const rows = ownerRows(open.data ?? [], won.data ?? []).map(row => ({
    ...row,
    id: String(row.owner),
    name: row.name ?? 'Nobody',
    openFilter: all(isOpen, isGroup('sales_owner', row.owner)),
    wonFilter: all(isWon, isGroup('sales_owner', row.owner)),
  }))
  return (
    <Panel
      className="p-4"
      title="By owner"
      detail={`Everything that is open now, and what was won from ${format.date(first)} to ${format.date(last)}${isInAmounts ? `, in ${base.code ?? 'the base currency'}` : ''}.`}
    >
      <WhenLoaded of={[open, won]}>
        {() => {
          if (rows.length === 0) return <EmptyState title="There are no open deals, and none were won." />
          if (isTable)
            return (
              <NumberTable
                label="By owner"
                columns={['Owner', ...columns]}
                without={isInAmounts ? [] : amountColumns}
                rows={rows.map(row => ({ id: row.id, name: row.name, cells: cellsOf(row, base) }))}
              />
            )
          return (
            <div className="flex flex-col gap-4">
              <Legend series={seriesOf(isInAmounts)} />
              <Bars
                label="By owner"
                onOpen={onOpen}
                bars={rows.map(row => ({
                  ...barOf(row, isInAmounts, base),
                  detail: `${base.deals(row.count)} open, ${format.number(row.wonCount)} won`,
                }))}
              />
            </div>
          )
        }}
      </WhenLoaded>
    </Panel>
  )
}
