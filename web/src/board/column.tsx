/** A stage: its totals and its cards. Only the cards in view are rendered. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronsRightLeft, Plus } from 'lucide-react'
import { memo, useEffect, useRef } from 'react'
import { stageKinds } from '../api/stage-kind.ts'
import { useFormat } from '../format/use-format.tsx'
import { IconButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Short } from '../ui/fitting.tsx'
import { closedDays } from './board-query.ts'
import { Card, cardGap, cardHeight } from './card.tsx'
import type { Column as ColumnData } from './model.ts'
import { isOld } from './windows.ts'

type Props = {
  column: ColumnData
  baseCode: string
  /** the cards that are selected */
  selected: ReadonlySet<number>
  /** row of the card that the Tab key reaches; -1: not in this column */
  activeRow: number
  /** True if the user may log activities */
  mayLog: boolean
  /** the fields that the pipeline has chosen for its cards */
  chosen: readonly string[]
  /** requests the cards around a row that is not loaded, or old */
  onMissing: (column: ColumnData, row: number) => void
  onAdd: (stage: number) => void
  onCollapse: (stage: number) => void
  /** True if deals are shown that were closed long ago */
  isOfAllTime: boolean
  onAllTime: (isOfAllTime: boolean) => void
  /** reason why nothing can be added */
  reason: string | undefined
}

export const Column = memo(function Column(props: Props) {
  const { column, selected, activeRow, mayLog, chosen, onMissing } = props
  const { id, cards, kind } = column
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cardHeight + cardGap,
    overscan: 4,
    // The focused card stays rendered during scrolling: without it the keys would be lost.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)]
      const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
      return activeRow < 0 || activeRow >= count || rows.includes(activeRow) ? rows : [...rows, activeRow]
    },
  })
  const items = virtual.getVirtualItems()
  const missing = items.find(({ index }) => isOld(column, index))?.index
  useEffect(() => {
    if (missing === undefined) return
    // Dragging the scrollbar passes many windows: only the last one is loaded.
    const timer = setTimeout(() => onMissing(column, missing), 60)
    return () => clearTimeout(timer)
  }, [missing, column, onMissing])
  // The keys bring a card into view before it is drawn (board-keys.ts).
  useEffect(() => {
    const element = scroller.current
    const show = (event: Event) =>
      virtual.scrollToIndex((event as CustomEvent<number>).detail, { align: 'auto' })
    element?.addEventListener('show-row', show)
    return () => element?.removeEventListener('show-row', show)
  }, [virtual])
  return (
    <section
      data-column={id}
      aria-label={column.name}
      className="@container flex h-full min-h-0 flex-col rounded-lg bg-sunken"
    >
      <Head {...props} />
      {/* A list that scrolls is reached by its cards. */}
      <div ref={scroller} data-scroller className="min-h-0 grow overflow-y-auto overscroll-contain px-2 pb-2">
        <ol className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <Card
              key={cards[index]?.id ?? `row${index}`}
              deal={cards[index]}
              row={index}
              count={cards.length}
              top={start}
              isOpenStage={kind === stageKinds.open}
              isActive={index === activeRow}
              isSelected={selected.has(cards[index]?.id ?? 0)}
              mayLog={mayLog}
              chosen={chosen}
            />
          ))}
        </ol>
        {cards.length === 0 && (
          <p className="rounded-md border border-dashed border-line px-3 py-6 text-center text-ink-faint">
            No deals
          </p>
        )}
      </div>
    </section>
  )
})

/** A column that shows only its name and count. Cards can be dropped on it. */
export function CollapsedColumn({ column, onCollapse }: Pick<Props, 'column' | 'onCollapse'>) {
  const { id, name, count } = column
  const format = useFormat()
  return (
    <section data-column={id} aria-label={name} className="h-full rounded-lg bg-sunken">
      <button
        type="button"
        aria-expanded={false}
        onClick={() => onCollapse(id)}
        className="flex h-full w-full cursor-pointer items-center gap-2 rounded-lg pt-3 text-start [writing-mode:vertical-rl] hover:bg-hover"
      >
        <span dir="auto" className="truncate font-semibold">
          {name}
        </span>
        <span className="text-ink-soft">{format.number(count)}</span>
      </button>
    </section>
  )
}

function Head({ column, baseCode, onAdd, onCollapse, isOfAllTime, onAllTime, reason }: Props) {
  const format = useFormat()
  const {
    id,
    name,
    count,
    kind,
    value,
    weighted_value: weighted,
    probability,
    by_currency = [],
    without_rate,
  } = column
  const details = [
    ...by_currency.map(
      amount => `${format.codedMoney(amount)} in ${format.counted(amount.count, 'deal', 'deals')}`,
    ),
    without_rate ? `${format.number(without_rate)} deals have no rate and are not in the sum` : '',
  ].filter(Boolean)
  const money = (value: number) => {
    const amount = { value, currency_code: baseCode }
    const title = [format.codedMoney(amount), ...details].join('\n')
    return <Short whole={format.money(amount)} short={format.compactMoney(amount)} title={title} />
  }
  return (
    <header className="px-3 pt-2 pb-1 @max-[230px]:px-2.5">
      <div className="flex items-center gap-1.5">
        {kind !== stageKinds.open && (
          <span
            aria-hidden
            className={classes('size-2 rounded-full', kind === stageKinds.won ? 'bg-won' : 'bg-lost')}
          />
        )}
        <h2 dir="auto" className="min-w-0 truncate">
          {name}
        </h2>
        <span className="text-ink-soft" data-sum="count">
          {format.number(count)}
        </span>
        <span className="grow" />
        {kind === stageKinds.open && (
          <span className="text-sm text-ink-faint @max-[230px]:hidden">{format.percent(probability)}</span>
        )}
        <IconButton label={`Collapse ${name}`} onPress={() => onCollapse(id)} className="-mr-1.5 size-6!">
          <ChevronsRightLeft size={14} aria-hidden />
        </IconButton>
        <IconButton
          label={`New deal in ${name}`}
          reason={reason}
          onPress={() => onAdd(id)}
          className="-mr-1.5 size-6!"
        >
          <Plus size={15} aria-hidden />
        </IconButton>
      </div>
      <p className="tabular leading-6">
        {value !== undefined && (
          <span className="font-medium" data-sum="value" data-exact={value}>
            {money(value)}
          </span>
        )}
        {kind === stageKinds.open && weighted !== undefined && (
          <span className="text-ink-soft" data-sum="weighted" data-exact={weighted}>
            {' '}
            · {money(weighted)} <span className="@max-[230px]:sr-only">weighted</span>
          </span>
        )}
        {without_rate ? (
          <span className="text-warn"> · {format.number(without_rate)} without rate</span>
        ) : null}
        {kind !== stageKinds.open && (
          <button
            type="button"
            title={isOfAllTime ? `Show only the last ${closedDays} days` : 'Show all'}
            onClick={() => onAllTime(!isOfAllTime)}
            className="min-h-6 cursor-pointer text-ink-soft hover:text-accent hover:underline"
          >
            {value === undefined ? '' : '\u00a0· '}
            {isOfAllTime ? 'all time' : `last ${closedDays} days`}
          </button>
        )}
      </p>
    </header>
  )
}
