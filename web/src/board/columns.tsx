/**
 * The columns of a board, and everything that happens on them: pointer and keys are heard here once, for all
 * cards. Only the columns in view are drawn.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  Suspense,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { sayError } from '../api/api.ts'
import { usePreferences } from '../shell/preferences.ts'
import { toastError } from '../ui/toast.tsx'
import { focusCard, placeAfter } from './board-keys.ts'
import { type BoardAsked, readWindow } from './board-query.ts'
import { useCardCommands } from './card-commands.ts'
import { CollapsedColumn, Column } from './column.tsx'
import { type BoardData, type Column as ColumnData, type Place, placeOf, withoutCards } from './model.ts'
import { type Menu, OverCards } from './over-cards.tsx'
import { useCardDrag } from './use-card-drag.ts'
import { useCollapse } from './use-collapse.ts'
import { useFollow } from './use-follow.ts'
import { useMoves } from './use-moves.ts'
import { useSelected } from './use-selected.ts'

// What opens on a press is loaded then.
const SelectedBar = lazy(() => import('./selected-bar.tsx').then(module => ({ default: module.SelectedBar })))

const columnWidth = 280
const collapsedWidth = 44
const gap = 12

type Props = {
  board: BoardData
  asked: BoardAsked
  /** the deal that is shown over the board */
  opened: number | null
  /** why nothing can be changed */
  reason: string | undefined
  onAdd: (stage?: number) => void
  onOpen: (deal: number) => void
  onShow: (changes: Partial<BoardAsked>) => void
}

export function Columns({ board: whole, asked, opened, reason, onAdd, onOpen, onShow }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<Place>({ column: 0, row: 0 })
  const [menu, setMenu] = useState<Menu | null>(null)
  const { collapsedStages } = usePreferences()
  // No key leads into a column that is collapsed.
  const board = useMemo(() => withoutCards(whole, collapsedStages), [whole, collapsedStages])
  const columns = board.columns
  const selected = useSelected(board)
  // The Tab key reaches a card that is there.
  const first = columns.findIndex(({ cards }) => cards.length > 0)
  const isThere = active.row < (columns[active.column]?.cards.length ?? 0)
  const reached = isThere ? active : { column: Math.max(0, first), row: 0 }
  const activeDeal = columns[reached.column]?.cards[reached.row]

  const hold = useFollow(element, whole, opened)
  const moves = useMoves(asked, whole, selected, hold)
  const { moveCard } = moves
  useCardDrag(element, reason === undefined, selected.ids, moveCard)

  const horizontal = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => element.current,
    estimateSize: index => widthOf(columns[index]!) + gap,
    overscan: 1,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: other widths are other places
  useLayoutEffect(() => horizontal.measure(), [collapsedStages])
  const readMissing = useCallback(
    (column: ColumnData, row: number) => {
      readWindow(asked, column, row).catch(error => toastError(sayError(error)))
    },
    [asked],
  )

  const isCollapsed = ({ id }: ColumnData) => collapsedStages.includes(id)
  const widthOf = (column: ColumnData) => (isCollapsed(column) ? collapsedWidth : columnWidth)
  const collapse = useCollapse(element)
  const showAllTime = useCallback(
    (isOfAllTime: boolean) => onShow({ closed: isOfAllTime ? 'all' : undefined }),
    [onShow],
  )

  const go = (place: Place) => {
    setActive(place)
    horizontal.scrollToIndex(place.column, { align: 'auto' })
    focusCard(element.current!, columns[place.column]!.id, place.row)
  }
  const moveBy = (step: 1 | -1) => {
    const target = columns[reached.column + step]
    if (activeDeal && target) moveCard(activeDeal.id, target.id)
  }
  const keyDown = (event: KeyboardEvent) => {
    const card = (event.target as HTMLElement).closest<HTMLElement>('[data-card]')
    if (!card || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
      event.preventDefault()
      if (reason) toastError(reason)
      else moveBy(event.key === 'ArrowRight' ? 1 : -1)
      return
    }
    if (event.shiftKey) return
    if (event.key === ' ' && activeDeal) selected.toggle(activeDeal.id)
    if (event.key === 'Escape') selected.clear()
    const next = placeAfter(board, reached, event.key)
    if (next) go(next)
    if (next || /^(Arrow|Home|End|Page| )/.test(event.key)) event.preventDefault()
  }
  const click = (event: MouseEvent) => {
    const target = event.target as HTMLElement
    const card = target.closest<HTMLElement>('[data-card]')
    if (!card) return
    const id = Number(card.dataset.card)
    const button = target.closest<HTMLElement>('[data-menu]')
    if (button) setMenu({ deal: id, anchor: button })
    else if (target.closest('[data-select]')) event.shiftKey ? selected.extend(id) : selected.toggle(id)
    else if (!event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      if (event.shiftKey) selected.extend(id)
      else onOpen(id)
    }
  }
  const focus = (event: React.FocusEvent) => {
    const card = (event.target as HTMLElement).closest<HTMLElement>('[data-card]')
    if (!card) return
    hold(Number(card.dataset.card))
    const place = placeOf(board, Number(card.dataset.card))
    if (place && (place.column !== reached.column || place.row !== reached.row)) setActive(place)
  }

  const openMenu = useCallback((deal: number) => {
    const anchor = element.current?.querySelector<HTMLElement>(`[data-card="${deal}"] [data-menu]`)
    if (anchor) setMenu({ deal, anchor })
  }, [])
  const isOneOf = activeDeal && selected.ids.has(activeDeal.id) ? selected.ids.size : 1
  useCardCommands({ deal: activeDeal, isOneOf, columns, reason, onMove: moveCard, onMenu: openMenu, onOpen })

  const answer = (closing: Parameters<typeof moves.answer>[0]) => {
    const id = moves.question?.deals[0]?.id
    moves.answer(closing)
    const place = closing || id === undefined ? null : placeOf(whole, id)
    if (place) focusCard(element.current!, columns[place.column]!.id, place.row, id)
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the cards have the roles, it hears for all of them */}
      <div
        ref={element}
        onKeyDown={keyDown}
        onClick={click}
        onFocus={focus}
        onBlur={() => hold(null)}
        className="relative min-h-0 grow overflow-x-auto px-4 pb-4"
      >
        <p id="board-help" hidden>
          Arrow keys go from card to card; Shift and an arrow move it to the next stage; Space selects it; M
          opens its actions.
        </p>
        <div className="relative h-full" style={{ width: horizontal.getTotalSize() }}>
          {horizontal.getVirtualItems().map(({ index, start }) => {
            const column = columns[index]!
            return (
              <div
                key={column.id}
                className="absolute inset-y-0 left-0"
                style={{ width: widthOf(column), transform: `translateX(${start}px)` }}
              >
                {isCollapsed(column) ? (
                  <CollapsedColumn column={column} onCollapse={collapse} />
                ) : (
                  <Column
                    column={column}
                    baseCode={board.currency.code}
                    selected={selected.ids}
                    activeRow={reached.column === index ? reached.row : -1}
                    onMissing={readMissing}
                    onAdd={onAdd}
                    onCollapse={collapse}
                    isOfAllTime={asked.closed === 'all'}
                    onAllTime={showAllTime}
                    reason={reason}
                  />
                )}
              </div>
            )
          })}
        </div>
        <OverCards
          board={whole}
          {...{ reason, menu, selected, asked: moves.question }}
          onMove={moveCard}
          onOpen={onOpen}
          onMenuClose={() => setMenu(null)}
          onAnswer={answer}
        />
      </div>
      <Suspense fallback={null}>
        {selected.wasUsed && (
          <SelectedBar
            {...{ asked, reason }}
            ids={selected.ids}
            stages={columns}
            order={moves.order}
            onTaken={moves.onTaken}
            onMove={moves.moveSelected}
            onClear={selected.clear}
          />
        )}
      </Suspense>
    </>
  )
}
