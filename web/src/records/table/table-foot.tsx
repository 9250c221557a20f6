/** The foot of a table: the number of records and the sums of their amounts. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { kindOf } from '../../fields/kinds.ts'
import type { Money } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import { classes } from '../../ui/classes.ts'
import { Fitting } from '../../ui/fitting.tsx'
import { boxWidth, type Layout } from './layout.ts'

type Sums = { readonly count: number; readonly [measure: string]: unknown }

export const sumsQuery = (resource: string, { filter, deleted }: ListRequest) =>
  queryOptions({
    queryKey: ['sums', resource, { filter, deleted }],
    queryFn: async ({ signal }) =>
      (await callApi<Sums[]>('GET', `/${resource}/aggregate`, { query: { filter, deleted }, signal }))[0] ??
      null,
    placeholderData: before => before,
  })

export function TableFoot(props: {
  resource: string
  request: ListRequest
  layout: Layout
  shown: readonly number[]
  height: number
  rowIndex: number
}) {
  const { resource, request, layout, shown, height, rowIndex } = props
  const { data: sums, isPlaceholderData } = useQuery(sumsQuery(resource, request))
  return (
    <div
      role="row"
      aria-rowindex={rowIndex}
      aria-label="Sums"
      className={classes(
        'sticky bottom-0 z-30 flex border-t border-line bg-canvas font-medium tabular',
        isPlaceholderData && 'text-ink-faint',
      )}
      style={{ height, width: layout.width }}
    >
      <div
        role="gridcell"
        aria-colindex={1}
        className="sticky left-0 z-10 h-full shrink-0 bg-inherit"
        style={{ width: boxWidth }}
      />
      {shown.map(place => {
        const { field, width, left, isFrozen } = layout.columns[place]!
        return (
          <div
            key={field.internal_name}
            role="gridcell"
            aria-colindex={place + 2}
            className={classes(
              'flex h-full items-center overflow-hidden px-2.5 whitespace-nowrap',
              isFrozen ? 'sticky z-10 shrink-0 bg-inherit' : 'absolute top-0',
              kindOf(field).align === 'end' && 'justify-end text-end',
            )}
            style={{ left, width }}
          >
            {sums && <Sum sums={sums} name={field.internal_name} isFirst={place === 0} />}
          </div>
        )
      })}
    </div>
  )
}

function Sum({ sums, name, isFirst }: { sums: Sums; name: string; isFirst: boolean }) {
  const format = useFormat()
  const own = sums[name]
  const inBase = sums[`${name}_in_base_currency`] as Money | undefined
  if (own === undefined) return isFirst ? `${format.number(sums.count)} in all` : null
  const amounts = (Array.isArray(own) ? own : [own]) as Money[]
  const each = amounts.map(format.money).join(' · ')
  const [first] = amounts
  if (!first) return null
  if (amounts.length === 1) return <Fitting whole={each} short={format.compactMoney(first)} />
  if (!inBase)
    return <Fitting whole={each} short={format.counted(amounts.length, 'currency', 'currencies')} />
  const without = Number(sums.without_rate ?? 0)
  const title = [each, without > 0 && `${format.counted(without, 'has', 'have')} no rate`]
    .filter(Boolean)
    .join('. ')
  return <Fitting whole={format.money(inBase)} short={format.compactMoney(inBase)} title={title} />
}
