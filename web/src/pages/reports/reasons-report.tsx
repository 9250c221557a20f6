/** The reasons of won and lost deals in the period. */
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../format/use-format.tsx'
import { Bars } from '../../ui/chart.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { Panel } from '../../ui/page.tsx'
import { NumberTable, sumsQuery, useOpen, WhenLoaded } from './parts.tsx'
import { all, baseValueOf, chosen, daysOf, dealsPath, isGroup, within } from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'
import { useBase } from './use-base.ts'

export function ReasonsReport(props: ReportProps) {
  return (
    <>
      <Reasons {...props} title="Why deals were won" status="Won" field="won_reason" />
      <Reasons {...props} title="Why deals were lost" status="Lost" field="lost_reason" />
    </>
  )
}

function Reasons(props: ReportProps & { title: string; status: 'Won' | 'Lost'; field: string }) {
  const { search, period, isTable, isInAmounts, title, status, field } = props
  const format = useFormat()
  const base = useBase()
  const onOpen = useOpen()
  const { first, last } = daysOf(period)
  const filter = all(`status:eq(${status})`, within('deal_closed_on', first, last), ...chosen(search))
  const sums = useQuery(sumsQuery({ filter, group_by: field }))
  const rows = (sums.data ?? [])
    .map(group => ({
      id: String(group.group),
      name: group.name ?? 'No reason',
      count: group.count ?? 0,
      value: baseValueOf(group),
      filter: all(filter, isGroup(field, group.group)),
    }))
    .sort((a, b) => b.count - a.count)
  return (
    <Panel
      className="p-4"
      title={title}
      detail={`Closed from ${format.date(first)} to ${format.date(last)}.`}
    >
      <WhenLoaded of={[sums]}>
        {() => {
          if (rows.length === 0)
            return <EmptyState title={`No deal was ${status.toLowerCase()} in these months.`} />
          if (isTable)
            return (
              <NumberTable
                label={title}
                columns={['Reason', 'Deals', 'Value']}
                without={isInAmounts ? [] : ['Value']}
                rows={rows.map(row => ({
                  id: row.id,
                  name: row.name,
                  cells: [
                    { text: format.number(row.count), filter: row.filter },
                    { text: base.full(row.value), filter: row.filter },
                  ],
                }))}
              />
            )
          return (
            <Bars
              label={title}
              onOpen={onOpen}
              bars={rows.map(row => ({
                id: row.id,
                name: row.name,
                text: isInAmounts
                  ? `${format.number(row.count)} · ${base.short(row.value)}`
                  : format.number(row.count),
                marks: [
                  {
                    value: row.count,
                    look: status === 'Won' ? 'won' : 'lost',
                    name: `${row.name}: ${base.deals(row.count)}${isInAmounts ? `, ${base.full(row.value)}` : ''}`,
                    href: dealsPath(row.filter),
                  },
                ],
              }))}
            />
          )
        }}
      </WhenLoaded>
    </Panel>
  )
}
