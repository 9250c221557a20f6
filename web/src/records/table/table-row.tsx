/** A row of a table, and its cells. */
import { memo } from 'react'
import type { AnyRecord } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { classes } from '../../ui/classes.ts'
import { Skeleton } from '../../ui/elements.tsx'
import { isEmpty } from '../editing/draft.ts'
import { boxWidth, type Layout, type ShownColumn } from './layout.ts'
import { SelectBox } from './select-box.tsx'

type Props = {
  index: number
  /** undefined: still loading */
  record: AnyRecord | undefined
  layout: Layout
  /** the columns to draw */
  shown: readonly number[]
  height: number
  isSelected: boolean
  isInGroup: boolean
  /** the focused column, 0 being that of the checkboxes; -1: another row has the focus */
  active: number
  /** the columns of the range to copy: from, to; -1: none of this row */
  from: number
  to: number
  /** the fields whose last change was refused, separated by commas */
  refused: string
  nameField: string
  /** the address of the record's page */
  href: (id: number) => string
}

export const TableRow = memo(function TableRow(props: Props) {
  const { index, record, layout, shown, height, isSelected, active, from, to, refused, nameField, href } =
    props
  const level = props.isInGroup ? 2 : undefined
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-level={level}
      aria-selected={isSelected}
      data-row={index}
      // A grid is one Tab stop: links in cells are pressed, or opened from the cell.
      ref={row => {
        for (const link of row?.querySelectorAll('a') ?? []) link.tabIndex = -1
      }}
      className={classes(
        'absolute flex border-b border-line',
        isSelected ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
      )}
      style={{ top: index * height, height, width: layout.width }}
    >
      <div
        role="gridcell"
        aria-colindex={1}
        data-cell={`${index}.0`}
        tabIndex={active === 0 ? 0 : -1}
        className="sticky left-0 z-10 flex h-full shrink-0 items-center justify-center bg-inherit"
        style={{ width: boxWidth }}
      >
        <SelectBox label={`Select row ${index + 1}`} isSelected={isSelected} />
      </div>
      {shown.map(place => (
        <Cell
          key={layout.columns[place]!.field.internal_name}
          column={layout.columns[place]!}
          place={place + 1}
          isActive={active === place + 1}
          isInRange={place + 1 >= from && place + 1 <= to}
          isRefused={refused.split(',').includes(layout.columns[place]!.field.internal_name)}
          {...{ index, record, nameField, href }}
        />
      ))}
    </div>
  )
})

type CellProps = Pick<Props, 'index' | 'record' | 'nameField' | 'href'> & {
  column: ShownColumn
  place: number
  isActive: boolean
  isInRange: boolean
  isRefused: boolean
}

function Cell(props: CellProps) {
  const { index, record, column, place, isActive, isInRange, isRefused, nameField, href } = props
  const { field, width, left, isFrozen } = column
  return (
    <div
      role="gridcell"
      aria-colindex={place + 1}
      aria-readonly={field.is_read_only || undefined}
      aria-invalid={isRefused || undefined}
      data-cell={`${index}.${place}`}
      tabIndex={isActive ? 0 : -1}
      className={classes(
        'flex h-full items-center overflow-hidden px-2.5 whitespace-nowrap',
        'focus-visible:z-20 focus-visible:outline-offset-[-2px]',
        isFrozen ? 'sticky z-10 shrink-0 bg-inherit' : 'absolute top-0',
        kindOf(field).align === 'end' && 'justify-end text-end',
        isInRange && 'bg-accent-soft!',
        isRefused && 'shadow-[inset_0_0_0_1px_var(--lost)]',
      )}
      style={{ left, width }}
    >
      {record ? (
        // Text is truncated at its own end, which is left for right-to-left text.
        <div
          className="min-w-0 truncate [&>*]:align-middle [&_.flex-wrap]:flex-nowrap
            [&>a>bdi]:block [&>a>bdi]:truncate [&>bdi]:block [&>bdi]:truncate"
        >
          <Content {...{ record, column, nameField, href }} />
        </div>
      ) : (
        <Skeleton className="h-3 w-3/5" />
      )}
    </div>
  )
}

function Content({
  record,
  column,
  nameField,
  href,
}: Pick<CellProps, 'column' | 'nameField' | 'href'> & {
  record: AnyRecord
}) {
  const { field } = column
  const name = field.internal_name
  const value = record[name]
  const { Cell: Read } = kindOf(field)
  if (name === nameField)
    return (
      <a
        href={href(record.id)}
        tabIndex={-1}
        data-open
        className="block truncate py-0.5 font-medium hover:text-accent hover:underline"
      >
        {isEmpty(value) ? (
          nameOf(record)
        ) : (
          <Read value={value} field={field} names={record._expanded?.[name]} />
        )}
      </a>
    )
  return isEmpty(value) ? null : <Read value={value} field={field} names={record._expanded?.[name]} />
}
