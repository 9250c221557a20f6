/**
 * The columns of a board: only those in view are drawn. Pointer and keys are heard here once, for all cards.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  lazy,
  type RefObject,
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
import { boardEvents } from './board-events.ts'
import { focusCard } from './board-keys.ts'
import { type BoardAsked, readWindow } from './board-query.ts'
import { useCardCommands } from './card-commands.ts'
import { CollapsedColumn, Column } from './column.tsx'
import { type BoardData, type Column as ColumnData, placeOf, withoutCards } from './model.ts'
import { type Menu, OverCards } from './over-cards.tsx'
import { useActiveCard } from './use-active-card.ts'
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
const widthOf = (isCollapsed: boolean) => (isCollapsed ? collapsedWidth : columnWidth)

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
  const [menu, setMenu] = useState<Menu | null>(null)
  const { collapsedStages } = usePreferences()
  // No key leads into a column that is collapsed.
  const board = useMemo(() => withoutCards(whole, collapsedStages), [whole, collapsedStages])
  const { columns } = board
  const selected = useSelected(board)
  const hold = useFollow(element, whole, opened)
  const moves = useMoves(asked, whole, selected, hold)
  const { moveCard } = moves
  useCardDrag(element, reason === undefined, selected.ids, moveCard)
  const virtual = useVirtualColumns(element, columns, collapsedStages)
  const active = useActiveCard(element, board, hold, column =>
    virtual.scrollToIndex(column, { align: 'auto' }),
  )
  const readMissing = useCallback(
    (column: ColumnData, row: number) => {
      readWindow(asked, column, row).catch(error => toastError(sayError(error)))
    },
    [asked],
  )
  const collapse = useCollapse(element)
  const showAllTime = useCallback(
    (isOfAllTime: boolean) => onShow({ closed: isOfAllTime ? 'all' : undefined }),
    [onShow],
  )
  const openMenu = useCallback((deal: number) => {
    const anchor = element.current?.querySelector<HTMLElement>(`[data-card="${deal}"] [data-menu]`)
    if (anchor) setMenu({ deal, anchor })
  }, [])
  const isOneOf = active.deal && selected.ids.has(active.deal.id) ? selected.ids.size : 1
  useCardCommands({ deal: active.deal, isOneOf, columns, reason, onMove: moveCard, onMenu: openMenu, onOpen })

  const answer = (closing: Parameters<typeof moves.answer>[0]) => {
    const id = moves.question?.deals[0]?.id
    moves.answer(closing)
    const place = closing || id === undefined ? null : placeOf(whole, id)
    if (place) focusCard(element.current!, columns[place.column]!.id, place.row, id)
  }
  return (
    <>
      {/* The cards have the roles; this element hears pointer and keys for all of them. */}
      <div
        ref={element}
        {...boardEvents({ active, selected, reason, moveCard, onOpen, onMenu: setMenu })}
        className="relative min-h-0 grow overflow-x-auto px-4 pb-4"
      >
        <p id="board-help" hidden>
          Arrow keys go from card to card; Shift and an arrow move it to the next stage; Space selects it; M
          opens its actions.
        </p>
        <div className="relative h-full" style={{ width: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const column = columns[index]!
            const isCollapsed = collapsedStages.includes(column.id)
            return (
              <div
                key={column.id}
                className="absolute inset-y-0 left-0"
                style={{ width: widthOf(isCollapsed), transform: `translateX(${start}px)` }}
              >
                {isCollapsed ? (
                  <CollapsedColumn column={column} onCollapse={collapse} />
                ) : (
                  <Column
                    column={column}
                    baseCode={board.currency.code}
                    selected={selected.ids}
                    activeRow={active.place.column === index ? active.place.row : -1}
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

/** Where the columns stand; each is followed by a gap. */
function useVirtualColumns(
  element: RefObject<HTMLElement | null>,
  columns: readonly ColumnData[],
  collapsed: readonly number[],
) {
  const virtual = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => element.current,
    estimateSize: index => widthOf(collapsed.includes(columns[index]!.id)) + gap,
    overscan: 1,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: other widths are other places
  useLayoutEffect(() => virtual.measure(), [collapsed])
  return virtual
}
