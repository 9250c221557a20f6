/** A stage: what its deals come to, and its cards, of which only those in view are drawn. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { Plus } from 'lucide-react'
import { memo, useEffect, useRef } from 'react'
import { useFormat } from '../format/use-format.tsx'
import { IconButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Card, cardGap, cardHeight } from './card.tsx'
import type { Column as ColumnData } from './model.ts'

type Props = {
  column: ColumnData
  baseCode: string
  /** the row of the card that the Tab key reaches; -1: none of this column */
  activeRow: number
  /** asked for the cards around a row that have not been read */
  onMissing: (stage: number, row: number) => void
  onAdd: (stage: number) => void
  /** why nothing can be added */
  reason: string | undefined
}

export const Column = memo(function Column(props: Props) {
  const { column, baseCode, activeRow, onMissing, onAdd, reason } = props
  const { id, cards, kind } = column
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => cardHeight + cardGap,
    overscan: 4,
    // The card with the focus stays, wherever one scrolls: without it the keys would be lost.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)]
      const rows = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
      return activeRow < 0 || activeRow >= count || rows.includes(activeRow) ? rows : [...rows, activeRow]
    },
  })
  const items = virtual.getVirtualItems()
  const missing = items.find(({ index }) => !cards[index])?.index
  useEffect(() => {
    if (missing === undefined) return
    // Whoever drags the scrollbar passes many windows: only where they rest is read.
    const timer = setTimeout(() => onMissing(id, missing), 60)
    return () => clearTimeout(timer)
  }, [missing, id, onMissing])
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
      className="flex h-full min-h-0 flex-col rounded-lg bg-sunken"
    >
      <Head column={column} baseCode={baseCode} onAdd={() => onAdd(id)} reason={reason} />
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
              isOpenStage={kind === 1}
              isActive={index === activeRow}
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

function Head(props: {
  column: ColumnData
  baseCode: string
  onAdd: () => void
  reason: string | undefined
}) {
  const { column, baseCode, onAdd, reason } = props
  const format = useFormat()
  const {
    name,
    count,
    kind,
    value,
    weighted_value: weighted,
    probability,
    by_currency = [],
    without_rate,
  } = column
  const money = (amount: number) => format.compactMoney({ value: amount, currency_code: baseCode })
  const details = [
    ...by_currency.map(amount => `${format.money(amount)} in ${format.number(amount.count)} deals`),
    without_rate ? `${format.number(without_rate)} deals have no rate and are not in the sum` : '',
  ].filter(Boolean)
  return (
    <header className="px-3 pt-2.5 pb-2">
      <div className="flex items-center gap-2">
        {kind !== 1 && (
          <span aria-hidden className={classes('size-2 rounded-full', kind === 2 ? 'bg-won' : 'bg-lost')} />
        )}
        <h2 dir="auto" className="min-w-0 truncate">
          {name}
        </h2>
        <span className="text-ink-soft" data-sum="count">
          {format.number(count)}
        </span>
        <span className="grow" />
        {kind === 1 && <span className="text-sm text-ink-faint">{format.percent(probability)}</span>}
        <IconButton
          label={`New deal in ${name}`}
          reason={reason}
          onPress={onAdd}
          className="-my-1 -mr-1.5 size-7!"
        >
          <Plus size={15} aria-hidden />
        </IconButton>
      </div>
      {value !== undefined && weighted !== undefined && (
        <p className="tabular truncate" title={details.join('\n')}>
          <span className="font-medium" data-sum="value" data-exact={value}>
            {money(value)}
          </span>
          {kind === 1 && (
            <span className="text-ink-soft" data-sum="weighted" data-exact={weighted}>
              {' '}
              · {money(weighted)} weighted
            </span>
          )}
          {without_rate ? (
            <span className="text-warn"> · {format.number(without_rate)} without rate</span>
          ) : null}
        </p>
      )}
    </header>
  )
}
