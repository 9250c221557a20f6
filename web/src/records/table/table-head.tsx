/** The head of a table: the label, sort and width of each column. */
import { ArrowDown, ArrowUp, EllipsisVertical } from 'lucide-react'
import { Button as AriaButton } from 'react-aria-components'
import type { SortKey } from '../../../../client/src/filter.ts'
import { kindOf } from '../../fields/kinds.ts'
import { classes } from '../../ui/classes.ts'
import { Menu } from '../../ui/menu.tsx'
import { boxWidth, type Layout } from './layout.ts'
import { SelectBox } from './select-box.tsx'

export type HeadActions = {
  sort: (field: string, isBeside: boolean) => void
  sortTo: (field: string, direction: SortKey['direction']) => void
  resize: (field: string, width: number) => void
  move: (field: string, by: number) => void
  hide: (field: string) => void
}

type Props = {
  layout: Layout
  shown: readonly number[]
  height: number
  sort: readonly SortKey[]
  /** the focused column; -1: the focus is elsewhere */
  active: number
  isAllSelected: boolean | 'some'
  actions: HeadActions
}

export function TableHead({ layout, shown, height, sort, active, isAllSelected, actions }: Props) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-30 flex border-b border-line bg-canvas text-ink-soft"
      style={{ height, width: layout.width }}
    >
      <div
        role="columnheader"
        aria-colindex={1}
        data-cell="-1.0"
        tabIndex={active === 0 ? 0 : -1}
        className="sticky left-0 z-10 flex h-full shrink-0 items-center justify-center bg-inherit"
        style={{ width: boxWidth }}
      >
        <SelectBox label="Select all that match" isSelected={isAllSelected} />
      </div>
      {shown.map(place => (
        <HeadCell key={place} {...{ place, layout, sort, actions }} isActive={active === place + 1} />
      ))}
    </div>
  )
}

function HeadCell(props: Pick<Props, 'layout' | 'sort' | 'actions'> & { place: number; isActive: boolean }) {
  const { place, layout, sort, actions, isActive } = props
  const { field, width, left, isFrozen } = layout.columns[place]!
  const name = field.internal_name
  const at = sort.findIndex(key => key.field === name)
  const direction = sort[at]?.direction
  const isAtEnd = kindOf(field).align === 'end'
  const Arrow = direction === 'desc' ? ArrowDown : ArrowUp
  return (
    <div
      role="columnheader"
      aria-colindex={place + 2}
      aria-sort={direction ? (direction === 'asc' ? 'ascending' : 'descending') : undefined}
      data-cell={`-1.${place + 1}`}
      tabIndex={isActive ? 0 : -1}
      className={classes(
        'group flex h-full items-center gap-1 pl-2.5 font-medium whitespace-nowrap select-none',
        isAtEnd && 'justify-end pr-2.5',
        // Beside the arrow there is room for the menu.
        direction && !isAtEnd && 'pr-9',
        'focus-visible:outline-offset-[-2px]',
        isFrozen ? 'sticky z-10 shrink-0 bg-inherit' : 'absolute top-0',
        field.is_sortable && 'cursor-pointer',
      )}
      style={{ left, width }}
    >
      <span className="min-w-0 truncate" dir="auto">
        {field.field_name}
      </span>
      {direction && <Arrow size={13} aria-hidden className="shrink-0 text-accent" />}
      {direction && sort.length > 1 && <span className="text-xs text-accent">{at + 1}</span>}
      <Menu label={`Column ${field.field_name}`} groups={[{ title: 'Column', entries: entriesOf(props) }]}>
        <AriaButton
          aria-label={`Column ${field.field_name}`}
          excludeFromTabOrder
          data-menu
          className={classes(
            'absolute flex size-6 items-center justify-center rounded-sm bg-canvas opacity-0',
            'group-hover:opacity-100 data-focused:opacity-100 data-hovered:bg-hover data-pressed:opacity-100',
            isAtEnd ? 'left-1' : 'right-2.5',
          )}
        >
          <EllipsisVertical size={13} aria-hidden />
        </AriaButton>
      </Menu>
      <Edge width={width} onResize={to => actions.resize(name, to)} />
    </div>
  )
}

function entriesOf({ layout, place, actions }: Pick<Props, 'layout' | 'actions'> & { place: number }) {
  const { field, width } = layout.columns[place]!
  const name = field.internal_name
  const entry = (id: string, label: string, act: () => void, isDisabled = false) => ({
    id,
    label,
    act,
    isDisabled,
  })
  return [
    entry('asc', 'Sort ascending', () => actions.sortTo(name, 'asc'), !field.is_sortable),
    entry('desc', 'Sort descending', () => actions.sortTo(name, 'desc'), !field.is_sortable),
    entry('left', 'Move left', () => actions.move(name, -1), place === 0),
    entry('right', 'Move right', () => actions.move(name, 1), place === layout.columns.length - 1),
    entry('wider', 'Wider', () => actions.resize(name, width + 40)),
    entry('narrower', 'Narrower', () => actions.resize(name, width - 40)),
    entry('hide', 'Hide', () => actions.hide(name), layout.columns.length === 1),
  ]
}

/** The edge that resizes a column. The keys do the same on the head's cell. */
function Edge({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  return (
    <span
      aria-hidden
      data-edge
      className="absolute top-0 right-0 h-full w-2 cursor-col-resize touch-none border-r
        border-line hover:border-r-2 hover:border-accent"
      onPointerDown={event => {
        event.preventDefault()
        event.stopPropagation()
        const { currentTarget: edge, clientX: from, pointerId } = event
        const over = new AbortController()
        const hear = (
          type: 'pointermove' | 'pointerup' | 'lostpointercapture',
          act: (now: PointerEvent) => void,
        ) => edge.addEventListener(type, act, { signal: over.signal })
        const end = () => {
          over.abort()
          edge.style.transform = edge.style.zIndex = ''
        }
        edge.setPointerCapture(pointerId)
        edge.style.zIndex = '20'
        // The address is updated at the end: each width is an address of its own.
        hear('pointermove', now => {
          edge.style.transform = `translateX(${now.clientX - from}px)`
        })
        hear('pointerup', now => {
          end()
          if (now.clientX !== from) onResize(width + now.clientX - from)
        })
        hear('lostpointercapture', end)
      }}
    />
  )
}
