/** A deal on the board. Its height is fixed, so that a column knows where each card is without drawing it. */
import { Flame } from 'lucide-react'
import { lazy, memo, Suspense } from 'react'
import { NextMark } from '../activities/next-mark.tsx'
import type { Named, Names } from '../api/api.ts'
import type { Money } from '../format/format.ts'
import { useFormat } from '../format/use-format.tsx'
import { classes } from '../ui/classes.ts'
import { Avatar, Badge, Skeleton } from '../ui/elements.tsx'
import { Short } from '../ui/fitting.tsx'
import { useMinute } from '../ui/minute.ts'
import { CardIcon } from './card-icons.tsx'
import type { Deal } from './model.ts'

const CardFields = lazy(() => import('./card-fields.tsx').then(module => ({ default: module.CardFields })))

export const cardHeight = 92
export const cardGap = 8

type Props = {
  deal: Deal | undefined
  row: number
  count: number
  top: number
  isOpenStage: boolean
  /** True if the Tab key reaches this card */
  isActive: boolean
  isSelected: boolean
  /** True if the user may log activities */
  mayLog: boolean
  /** the fields that the pipeline has chosen; none: the usual ones */
  chosen: readonly string[]
}

/** Cards have no handlers: the board handles pointer and keys for all of them (board-events.ts). */
export const Card = memo(function Card(props: Props) {
  const { deal, row, count, top, isOpenStage, isActive, isSelected, mayLog, chosen } = props
  const place = { transform: `translateY(${top}px)`, height: cardHeight }
  const around = '@container absolute inset-x-0 top-0 rounded-md border'
  const plain = 'border-line bg-surface'
  if (!deal)
    return (
      <li
        aria-setsize={count}
        aria-posinset={row + 1}
        className={classes(around, plain, 'p-2.5')}
        style={place}
      >
        <span className="unseen">Loading</span>
        <Skeleton className="h-3.5 w-3/4" />
        <Skeleton className="mt-2 h-3 w-1/2" />
      </li>
    )
  return (
    <li
      aria-setsize={count}
      aria-posinset={row + 1}
      data-card={deal.id}
      data-row={row}
      data-selected={isSelected || undefined}
      className={classes(
        around,
        isSelected ? 'border-accent bg-accent-soft' : `${plain} hover:border-line-strong/70`,
        'group shadow-[0_1px_2px_var(--shadow)]',
      )}
      style={place}
    >
      <a
        href={`/deals/${deal.id}`}
        draggable={false}
        tabIndex={isActive ? 0 : -1}
        aria-describedby="board-help"
        className="flex h-full touch-pan-x touch-pan-y flex-col rounded-md px-2.5 py-2 select-none"
      >
        {isSelected && <span className="unseen">Selected</span>}
        <Content {...{ deal, isOpenStage, chosen }} />
      </a>
      {/* biome-ignore lint/a11y/useSemanticElements: a native one takes three elements a card */}
      <button
        type="button"
        role="checkbox"
        aria-checked={isSelected}
        tabIndex={-1}
        data-select
        aria-label={`Select ${deal.title}`}
        className={classes(
          'absolute top-8 right-1 flex size-7 items-center justify-center rounded-sm pointer-coarse:hidden',
          'before:flex before:size-4 before:items-center before:justify-center before:rounded-sm',
          'before:border before:border-line-strong before:text-xs before:content-[""]',
          isSelected
            ? 'before:border-accent before:bg-accent before:text-accent-ink before:content-["✓"]'
            : 'bg-surface opacity-0 group-focus-within:opacity-100 group-hover:opacity-100',
        )}
      />
      <button
        type="button"
        tabIndex={-1}
        data-menu
        aria-label={`Actions of ${deal.title}`}
        className="absolute top-1 right-1 flex size-7 items-center justify-center rounded-sm bg-surface
          text-ink-soft opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 hover:bg-hover
          pointer-coarse:opacity-100"
      >
        <CardIcon name="actions" size={15} />
      </button>
      {mayLog && (
        <button
          type="button"
          tabIndex={-1}
          data-log
          aria-label={`Log a call about ${deal.title}`}
          className="absolute top-1 right-8 flex size-7 items-center justify-center rounded-sm bg-surface
            text-ink-soft opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 hover:bg-hover
            pointer-coarse:top-8 pointer-coarse:right-1 pointer-coarse:opacity-100"
        >
          <CardIcon name="log" size={14} />
        </button>
      )}
    </li>
  )
})

const nameOf = (names: Names | undefined, field: string) => (names?.[field] as Named | null | undefined)?.name

/** The lines below the title: the usual ones, or the fields that the pipeline has chosen. */
function Content({ deal, isOpenStage, chosen }: Pick<Props, 'isOpenStage' | 'chosen'> & { deal: Deal }) {
  const owner = nameOf(deal._expanded, 'sales_owner')
  return (
    <>
      <span dir="auto" className="clamp-2 pr-6 leading-[17px] font-medium">
        {deal.title}
      </span>
      <span className="flex min-w-0 items-center gap-2 pr-6 leading-[17px] text-ink-soft">
        {chosen.length > 0 ? <Chosen deal={deal} names={chosen.slice(0, 2)} /> : <Customer deal={deal} />}
        <Rotting deal={deal} />
      </span>
      <span className="mt-auto flex min-w-0 items-center gap-1.5">
        {isOpenStage && <NextMark deal={deal} />}
        {/* What has no room wraps, and is not seen: an amount is never cut. */}
        <span className="flex h-5 min-w-0 grow flex-wrap items-center gap-x-1.5 gap-y-4 overflow-hidden">
          {chosen.length > 0 ? (
            <Chosen deal={deal} names={chosen.slice(2)} />
          ) : (
            <Amounts deal={deal} isOpenStage={isOpenStage} />
          )}
        </span>
        {owner && (
          <span title={owner} className="flex">
            <Avatar name={owner} />
            <span className="unseen">{owner}</span>
          </span>
        )}
      </span>
    </>
  )
}

function Chosen({ deal, names }: { deal: Deal; names: readonly string[] }) {
  return (
    <Suspense fallback={null}>
      <CardFields deal={deal} names={names} />
    </Suspense>
  )
}

function Customer({ deal: { _expanded: names } }: { deal: Deal }) {
  return (
    <span dir="auto" className="truncate">
      {nameOf(names, 'company') ?? nameOf(names, 'primary_contact')}
    </span>
  )
}

function Rotting({ deal: { rotting_days: days } }: { deal: Deal }) {
  if (typeof days !== 'number' || days <= 0) return null
  return (
    <span className="flex shrink-0 items-center text-warn" title={`${days} days longer here than planned`}>
      <Flame size={12} aria-hidden />
      <span className="unseen">Longer here than planned by</span>
      {days}d
    </span>
  )
}

/** A narrow card leaves out the tag and the sign of the date. */
function Amounts({ deal, isOpenStage }: { deal: Deal; isOpenStage: boolean }) {
  const format = useFormat()
  const { _expanded: names, expected_close_date: close } = deal
  const value = deal.deal_value as Money | null | undefined
  // The next day may begin while the board is open.
  useMinute()
  const [tag] = (names?.tags as readonly Named[] | undefined) ?? []
  const isOverdue = isOpenStage && typeof close === 'string' && close < format.today()
  return (
    <>
      {value && (
        <span className="shrink-0 font-semibold">
          <Short
            whole={format.money(value)}
            short={format.compactMoney(value)}
            title={format.codedMoney(value)}
          />
        </span>
      )}
      {typeof close === 'string' && (
        <span
          className={classes('flex shrink-0 items-center gap-1', isOverdue ? 'text-lost' : 'text-ink-soft')}
          title={`Expected to close on ${format.longDate(close)}${isOverdue ? ': overdue' : ''}`}
        >
          <CardIcon name="close" size={12} className={isOverdue ? undefined : '@max-[210px]:hidden'} />
          <span className="unseen">{isOverdue ? 'Overdue since' : 'Expected to close'}</span>
          {format.date(close)}
        </span>
      )}
      {tag && (
        <span className="flex min-w-0 shrink @max-[230px]:hidden">
          <Badge variant="accent">{tag.name}</Badge>
        </span>
      )}
    </>
  )
}
