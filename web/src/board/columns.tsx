/** The columns of a board: only those in view are drawn. Handles pointer and keys once, for all cards. */
import { useQuery } from '@tanstack/react-query'
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
import { aboutRecord } from '../activities/about.ts'
import type { LogKind } from '../activities/kinds.ts'
import { errorMessage } from '../api/api.ts'
import { mayRead, pipelinesQuery } from '../api/queries.ts'
import { stageKinds } from '../api/stage-kind.ts'
import { openLog, openPlan } from '../shell/log-activity.tsx'
import { useLockedReason, useReadOnlyReason } from '../shell/me.ts'
import { usePreferences } from '../shell/preferences.ts'
import { toastError } from '../ui/toast.tsx'
import { boardEvents } from './board-events.ts'
import { focusCard } from './board-keys.ts'
import { type BoardRequest, cardFieldsOf, readWindow } from './board-query.ts'
import { useCardCommands } from './card-commands.ts'
import { CardMasks } from './card-icons.tsx'
import { CardOverlays, type Menu } from './card-overlays.tsx'
import { CollapsedColumn, Column } from './column.tsx'
import { type BoardData, type Column as ColumnData, placeOf, withoutCards } from './model.ts'
import { useActiveCard } from './use-active-card.ts'
import { useCardDrag } from './use-card-drag.ts'
import { useCardFocus } from './use-card-focus.ts'
import { useCardSelection } from './use-card-selection.ts'
import { useCollapse } from './use-collapse.ts'
import { gap, useColumnWidth } from './use-column-width.ts'
import { useMoves } from './use-moves.ts'

// Loaded when it opens.
const SelectionBar = lazy(() =>
  import('./selection-bar.tsx').then(module => ({ default: module.SelectionBar })),
)

type Props = {
  board: BoardData
  request: BoardRequest
  /** the deal shown over the board */
  opened: number | null
  /** reason why nothing can be changed */
  mayNot: string | undefined
  onAdd: (stage?: number) => void
  onOpen: (deal: number) => void
  onShow: (changes: Partial<BoardRequest>) => void
}

export function Columns({ board: whole, request, opened, mayNot, onAdd, onOpen, onShow }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const [menu, setMenu] = useState<Menu | null>(null)
  const { collapsedStages } = usePreferences()
  // Keys skip collapsed columns.
  const board = useMemo(() => withoutCards(whole, collapsedStages), [whole, collapsedStages])
  const { columns } = board
  const reason = useLockedReason('deal', 'pipeline_stage', mayNot)
  const selected = useCardSelection(whole, board, request, collapsedStages)
  const hold = useCardFocus(element, whole, opened)
  const moves = useMoves(request, whole, selected, hold)
  const { moveCard } = moves
  useCardDrag(element, reason === undefined, selected.ids, moveCard)
  const widthOf = useColumnWidth(element, columns, collapsedStages)
  const virtual = useVirtualColumns(element, columns, widthOf)
  const active = useActiveCard(element, board, hold, column =>
    virtual.scrollToIndex(column, { align: 'auto' }),
  )
  const readMissing = useCallback(
    (column: ColumnData, row: number) => readOrSay(request, column, row),
    [request],
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
  const mayLog = useReadOnlyReason('activity') === undefined
  const log = useLog(whole)
  const { data: pipelines = [] } = useQuery({ ...pipelinesQuery, enabled: mayRead('pipeline') })
  const chosen = cardFieldsOf(pipelines, request.pipeline)
  const isOneOf = active.deal && selected.ids.has(active.deal.id) ? selected.ids.size : 1
  const about = { deal: active.deal, isOneOf, columns, reason, mayLog }
  useCardCommands({ ...about, onMove: moveCard, onMenu: openMenu, onOpen })

  const answer = (...[closing, note]: Parameters<typeof moves.answer>) => {
    const id = moves.pending?.deals[0]?.id
    moves.answer(closing, note)
    const place = closing || id === undefined ? null : placeOf(whole, id)
    if (place) focusCard(element.current!, columns[place.column]!.id, place.row, id)
  }
  return (
    <>
      {/* The cards have the roles; this element hears pointer and keys for all of them. */}
      <div
        ref={element}
        {...boardEvents({ active, selected, reason, moveCard, onOpen, onMenu: setMenu, onLog: log })}
        className="relative min-h-0 grow overflow-x-auto px-4 pb-4 max-sm:px-3"
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
                style={{ width: widthOf(column.id), transform: `translateX(${start}px)` }}
              >
                {isCollapsed ? (
                  <CollapsedColumn column={column} onCollapse={collapse} />
                ) : (
                  <Column
                    column={column}
                    baseCode={board.currency.code}
                    selected={selected.ids}
                    activeRow={active.place.column === index ? active.place.row : -1}
                    mayLog={mayLog}
                    chosen={chosen}
                    onMissing={readMissing}
                    onAdd={onAdd}
                    onCollapse={collapse}
                    isOfAllTime={request.closed === 'all'}
                    onAllTime={showAllTime}
                    reason={reason}
                  />
                )}
              </div>
            )
          })}
        </div>
        <CardOverlays
          board={whole}
          {...{ mayNot, reason, menu, selected, pending: moves.pending }}
          onMove={moveCard}
          onOpen={onOpen}
          onMenuClose={() => setMenu(null)}
          onLog={mayLog ? log : undefined}
          onAnswer={answer}
        />
      </div>
      <CardMasks />
      <DropTargets columns={columns} />
      <Suspense fallback={null}>
        {selected.wasUsed && (
          <SelectionBar
            {...{ request, mayNot, reason }}
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

/** Opens the form that logs or plans an activity of a deal of the board. */
function useLog(board: BoardData) {
  return useCallback(
    (id: number, kind: LogKind | 'plan' = 'Call') => {
      const place = placeOf(board, id)
      const deal = place && board.columns[place.column]!.cards[place.row]
      if (!deal) return
      const about = aboutRecord('deal', deal)
      if (kind === 'plan') openPlan(about)
      else openLog(kind, about)
    },
    [board],
  )
}

/** The stages that close a deal, as slim targets while a card is dragged: they may be out of view. */
function DropTargets({ columns }: { columns: readonly ColumnData[] }) {
  return (
    <div aria-hidden className="drop-targets">
      {columns.map(({ id, name, kind }) =>
        kind === stageKinds.open ? null : (
          <div key={id} data-drop={id} className={kind === stageKinds.won ? 'text-won' : 'text-lost'}>
            <span className="truncate">{name}</span>
          </div>
        ),
      )}
    </div>
  )
}

/** Positions of the columns; each is followed by a gap. */
function useVirtualColumns(
  element: RefObject<HTMLElement | null>,
  columns: readonly ColumnData[],
  widthOf: (stage: number) => number,
) {
  const virtual = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => element.current,
    estimateSize: index => widthOf(columns[index]!.id) + gap,
    overscan: 1,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: other widths are other places
  useLayoutEffect(() => virtual.measure(), [widthOf])
  return virtual
}

/** Reads the cards around a row, or says why it can't. */
function readOrSay(request: BoardRequest, column: ColumnData, row: number): void {
  readWindow(request, column, row).catch(error =>
    toastError(errorMessage(error), { label: 'Try again', act: () => readOrSay(request, column, row) }),
  )
}
