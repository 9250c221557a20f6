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
  useMemo,
  useRef,
  useState,
} from 'react'
import { sayError } from '../api/api.ts'
import { type Command, useCommands } from '../shell/commands.ts'
import { toastError } from '../ui/toast.tsx'
import { focusCard, placeAfter } from './board-keys.ts'
import { type BoardAsked, readWindow } from './board-query.ts'
import { Column } from './column.tsx'
import { type BoardData, type Column as ColumnData, type Deal, type Place, placeOf } from './model.ts'
import { useCardDrag } from './use-card-drag.ts'
import { useMove } from './use-move.ts'

// What opens on a press is loaded then.
const CardMenu = lazy(() => import('./card-menu.tsx').then(module => ({ default: module.CardMenu })))
const CloseDialog = lazy(() => import('./close-dialog.tsx').then(module => ({ default: module.CloseDialog })))

export const columnWidth = 280
const gap = 12

type Props = {
  board: BoardData
  asked: BoardAsked
  /** why nothing can be changed */
  reason: string | undefined
  onAdd: (stage?: number) => void
  onOpen: (deal: number) => void
}

type Closing = { readonly deal: Deal; readonly stage: ColumnData }

export function Columns({ board, asked, reason, onAdd, onOpen }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<Place>({ column: 0, row: 0 })
  const [menu, setMenu] = useState<{ deal: number; anchor: HTMLElement } | null>(null)
  const [closing, setClosing] = useState<Closing | null>(null)
  const move = useMove(asked)
  const columns = board.columns
  // The Tab key reaches a card that is there.
  const first = Math.max(
    0,
    columns.findIndex(({ cards }) => cards.length > 0),
  )
  const isThere = active.row < (columns[active.column]?.cards.length ?? 0)
  const reached = isThere ? active : { column: first, row: 0 }
  const activeDeal = columns[reached.column]?.cards[reached.row]

  /** A stage of the kind Won or Lost asks first. */
  const begin = useCallback(
    async (id: number, stageId: number) => {
      const place = placeOf(board, id)
      const stage = board.columns.find(column => column.id === stageId)
      if (!place || !stage || board.columns[place.column] === stage) return
      const deal = board.columns[place.column]!.cards[place.row]!
      if (stage.kind !== 1) return setClosing({ deal, stage })
      const row = place.row
      await move(id, stageId)
      if (element.current?.contains(document.activeElement) || document.activeElement === document.body)
        focusCard(element.current!, stageId, row, id)
    },
    [board, move],
  )
  const drop = useCallback((deal: number, stage: number) => void begin(deal, stage), [begin])
  useCardDrag(element, reason === undefined, drop)

  const horizontal = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => element.current,
    estimateSize: () => columnWidth + gap,
    overscan: 1,
  })
  const readMissing = useCallback(
    (stage: number, row: number) => {
      readWindow(asked, stage, row).catch(error => toastError(sayError(error)))
    },
    [asked],
  )

  const go = (place: Place) => {
    setActive(place)
    horizontal.scrollToIndex(place.column, { align: 'auto' })
    focusCard(element.current!, columns[place.column]!.id, place.row)
  }
  const moveBy = (step: 1 | -1) => {
    const target = columns[reached.column + step]
    if (activeDeal && target) void begin(activeDeal.id, target.id)
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
    const next = placeAfter(board, reached, event.key)
    if (next) go(next)
    if (next || /^(Arrow|Home|End|Page)/.test(event.key)) event.preventDefault()
  }
  const click = (event: MouseEvent) => {
    const target = event.target as HTMLElement
    const card = target.closest<HTMLElement>('[data-card]')
    if (!card) return
    const id = Number(card.dataset.card)
    const button = target.closest<HTMLElement>('[data-menu]')
    if (button) setMenu({ deal: id, anchor: button })
    else if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault()
      onOpen(id)
    }
  }
  const focus = (event: React.FocusEvent) => {
    const card = (event.target as HTMLElement).closest<HTMLElement>('[data-card]')
    const place = card && placeOf(board, Number(card.dataset.card))
    if (place && (place.column !== reached.column || place.row !== reached.row)) setActive(place)
  }

  const won = columns.find(({ kind }) => kind === 2)
  const lost = columns.find(({ kind }) => kind === 3)
  const commands = useMemo((): Command[] => {
    if (!activeDeal) return []
    const group = `“${activeDeal.title}”`
    const openMenu = () => {
      const anchor = element.current?.querySelector<HTMLElement>(`[data-card="${activeDeal.id}"] [data-menu]`)
      if (anchor) setMenu({ deal: activeDeal.id, anchor })
    }
    const stages = columns.map(
      ({ id, name }): Command => ({
        id: `move${id}`,
        title: `Move to ${name}`,
        group,
        ...(id === won?.id ? { keys: 'w' } : id === lost?.id ? { keys: 'x' } : {}),
        act: () => void begin(activeDeal.id, id),
      }),
    )
    const others: Command[] = [
      { id: 'card-menu', title: 'Actions of the card', group, keys: 'm', act: openMenu },
      { id: 'card-open', title: 'Open', group, act: () => onOpen(activeDeal.id) },
      {
        id: 'card-left',
        title: 'One stage back',
        group: 'Board',
        keys: 'shift+ArrowLeft',
        isHidden: true,
        act: () => {},
      },
      {
        id: 'card-right',
        title: 'One stage on',
        group: 'Board',
        keys: 'shift+ArrowRight',
        isHidden: true,
        act: () => {},
      },
    ]
    return reason ? others.slice(1, 2) : [...others, ...stages]
  }, [activeDeal, columns, won?.id, lost?.id, begin, onOpen, reason])
  useCommands(commands)

  const closed = async ({ deal, stage }: Closing, fields: Parameters<typeof move>[2]) => {
    setClosing(null)
    const row = placeOf(board, deal.id)?.row ?? 0
    await move(deal.id, stage.id, fields)
    focusCard(element.current!, stage.id, row, deal.id)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the cards have the roles, it hears for all of them
    <div
      ref={element}
      onKeyDown={keyDown}
      onClick={click}
      onFocus={focus}
      className="relative min-h-0 grow overflow-x-auto px-4 pb-4"
    >
      <p id="board-help" hidden>
        Arrow keys go from card to card; Shift and an arrow move it to the next stage; M opens its actions.
      </p>
      <div className="relative h-full" style={{ width: horizontal.getTotalSize() }}>
        {horizontal.getVirtualItems().map(({ index, start }) => (
          <div
            key={columns[index]!.id}
            className="absolute inset-y-0 left-0"
            style={{ width: columnWidth, transform: `translateX(${start}px)` }}
          >
            <Column
              column={columns[index]!}
              baseCode={board.currency.code}
              activeRow={reached.column === index ? reached.row : -1}
              onMissing={readMissing}
              onAdd={onAdd}
              reason={reason}
            />
          </div>
        ))}
      </div>
      <Suspense fallback={null}>
        {menu && (
          <CardMenu
            anchor={menu.anchor}
            stages={columns}
            current={columns[placeOf(board, menu.deal)?.column ?? -1]?.id}
            reason={reason}
            onMove={stage => void begin(menu.deal, stage)}
            onOpen={() => onOpen(menu.deal)}
            onClose={() => setMenu(null)}
          />
        )}
        {closing && (
          <CloseDialog
            deal={closing.deal}
            stage={closing.stage}
            onClose={() => {
              setClosing(null)
              const place = placeOf(board, closing.deal.id)
              if (place) focusCard(element.current!, columns[place.column]!.id, place.row, closing.deal.id)
            }}
            onClosed={fields => void closed(closing, fields)}
          />
        )}
      </Suspense>
    </div>
  )
}
