/** The header of a group in a table: its value, the number of records, and their sums below the columns. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useFormat } from '../../format/use-format.tsx'
import { classes } from '../../ui/classes.ts'
import type { Section } from '../groups/grouping.ts'
import { boxWidth, type Layout } from './layout.ts'
import { SelectBox } from './select-box.tsx'
import { Sum } from './sum.tsx'

export function GroupRow(props: {
  index: number
  group: Section
  layout: Layout
  /** the columns to draw */
  shown: readonly number[]
  height: number
  isSelected: boolean | 'some'
  /** True while its records are read, to be selected */
  isReading: boolean
  /** the focused column; -1: another row has the focus */
  active: number
}) {
  const { index, group, layout, shown, height, isSelected, isReading, active } = props
  const [first] = layout.columns
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-level={1}
      aria-expanded={!group.isCollapsed}
      aria-selected={isSelected === true}
      className="absolute flex cursor-pointer border-b border-line bg-sunken font-medium"
      style={{ top: index * height, height, width: layout.width }}
    >
      <div
        role="gridcell"
        aria-colindex={1}
        aria-busy={isReading}
        data-cell={`${index}.0`}
        tabIndex={active === 0 ? 0 : -1}
        className="sticky left-0 z-10 flex h-full shrink-0 items-center justify-center bg-inherit"
        style={{ width: boxWidth }}
      >
        <SelectBox label={`Select the rows of ${group.label}`} isSelected={isSelected} />
      </div>
      <div
        role="gridcell"
        aria-colindex={2}
        // All but the checkbox is one stop, whatever the column of the focus was.
        data-cell={`${index}.${Math.max(active, 1)}`}
        tabIndex={active > 0 ? 0 : -1}
        className="sticky z-10 flex h-full min-w-0 shrink-0 items-center gap-2 bg-inherit pl-2.5
          focus-visible:outline-offset-[-2px]"
        style={{ left: boxWidth, width: first?.width ?? 0 }}
      >
        <GroupLabel group={group} />
      </div>
      {shown.map(place => {
        const { field, width, left } = layout.columns[place]!
        if (place === 0) return null
        return (
          <div
            key={field.internal_name}
            role="gridcell"
            aria-colindex={place + 2}
            data-cell={`${index}.${place + 1}`}
            className={classes(
              'absolute top-0 flex h-full items-center justify-end overflow-hidden px-2.5',
              'text-end whitespace-nowrap',
            )}
            style={{ left, width }}
          >
            <Sum sums={group.sums} name={field.internal_name} />
          </div>
        )
      })}
    </div>
  )
}

export function GroupLabel({ group }: { group: Section }) {
  const format = useFormat()
  const Arrow = group.isCollapsed ? ChevronRight : ChevronDown
  return (
    <>
      <Arrow size={15} aria-hidden className="shrink-0 text-ink-soft" />
      <span className="min-w-0 truncate" dir="auto">
        {group.label}
      </span>
      <span className="tabular shrink-0 font-normal text-ink-soft">{format.number(group.sums.count)}</span>
    </>
  )
}
