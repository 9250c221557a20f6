/** What opens over the cards: the menu of one, and what its move asks first. Each is loaded when it opens. */
import { lazy, Suspense } from 'react'
import type { Closing } from './close-dialog.tsx'
import { type BoardData, type Column, type Deal, placeOf } from './model.ts'

const CardMenu = lazy(() => import('./card-menu.tsx').then(module => ({ default: module.CardMenu })))
const MoveDialog = lazy(() => import('./close-dialog.tsx').then(module => ({ default: module.MoveDialog })))

/** A move that is to be answered before it is made. */
export type Asked = { readonly deal: Deal; readonly from: Column; readonly stage: Column }
export type Menu = { readonly deal: number; readonly anchor: HTMLElement }

type Props = {
  board: BoardData
  reason: string | undefined
  menu: Menu | null
  asked: Asked | null
  onMove: (deal: number, stage: number) => void
  onOpen: (deal: number) => void
  onMenuClose: () => void
  /** gets what is to be sent with the stage; null: the card stays */
  onAnswer: (asked: Asked, closing: Closing | null) => void
}

export function OverCards({ board, reason, menu, asked, onMove, onOpen, onMenuClose, onAnswer }: Props) {
  return (
    <Suspense fallback={null}>
      {menu && (
        <CardMenu
          anchor={menu.anchor}
          stages={board.columns}
          current={board.columns[placeOf(board, menu.deal)?.column ?? -1]?.id}
          reason={reason}
          onMove={stage => onMove(menu.deal, stage)}
          onOpen={() => onOpen(menu.deal)}
          onClose={onMenuClose}
        />
      )}
      {asked && (
        <MoveDialog
          deal={asked.deal}
          from={asked.from.kind}
          stage={asked.stage}
          onClose={() => onAnswer(asked, null)}
          onClosed={closing => onAnswer(asked, closing)}
        />
      )}
    </Suspense>
  )
}
