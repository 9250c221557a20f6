/** The foot of a table: the number of records and the sums of their amounts. */
import { useQuery } from '@tanstack/react-query'
import type { ListRequest } from '../../api/queries.ts'
import { kindOf } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { classes } from '../../ui/classes.ts'
import { boxWidth, type Layout } from './layout.ts'
import { Sum } from './sum.tsx'
import { groupsQuery, summedOf } from './sums.ts'

export function TableFoot(props: {
  resource: string
  request: ListRequest
  layout: Layout
  shown: readonly number[]
  height: number
  rowIndex: number
}) {
  const { resource, request, layout, shown, height, rowIndex } = props
  const format = useFormat()
  const { filter, deleted } = request
  const fields = summedOf(layout.columns.map(({ field }) => field))
  const { data, isPlaceholderData } = useQuery({
    ...groupsQuery(resource, { filter, deleted, fields }),
    placeholderData: before => before,
  })
  const sums = data?.[0]
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
            {sums && place === 0 && !fields.includes(field.internal_name)
              ? `${format.number(sums.count)} in all`
              : sums && <Sum sums={sums} name={field.internal_name} />}
          </div>
        )
      })}
    </div>
  )
}
