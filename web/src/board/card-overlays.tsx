/** The overlays of the cards: the menu of a card and the dialog of its move. Each is loaded when it opens. */
import { lazy, Suspense, useState } from 'react'
import type { LogKind } from '../activities/kinds.ts'
import { stageKinds } from '../api/stage-kind.ts'
import type { Closing } from './close-dialog.tsx'
import { type BoardData, placeOf } from './model.ts'
import type { CardSelection } from './use-card-selection.ts'
import type { PendingMove } from './use-moves.ts'

const CardMenu = lazy(() => import('./card-menu.tsx').then(module => ({ default: module.CardMenu })))
const EditRecord = lazy(() =>
  import('../records/editing/edit-record.tsx').then(module => ({ default: module.EditRecord })),
)
const MoveDialog = lazy(() => import('./close-dialog.tsx').then(module => ({ default: module.MoveDialog })))

export type Menu = { readonly deal: number; readonly anchor: HTMLElement }

type Props = {
  board: BoardData
  /** reason why nothing can be changed */
  mayNot: string | undefined
  /** reason why no card can be moved */
  reason: string | undefined
  menu: Menu | null
  pending: PendingMove | null
  selected: CardSelection
  onMove: (deal: number, stage: number) => void
  onOpen: (deal: number) => void
  onMenuClose: () => void
  /** absent if the user may not log activities */
  onLog: ((deal: number, kind: LogKind | 'plan') => void) | undefined
  /** gets the additional values to send, and the note to add; null: the card stays */
  onAnswer: (closing: Closing | null, note?: string) => void
}

export function CardOverlays(props: Props) {
  const { board, mayNot, reason, menu, pending, selected } = props
  const { onMove, onOpen, onMenuClose, onLog, onAnswer } = props
  const [edited, setEdited] = useState<number | null>(null)
  // A reopening asks about those that are closed, and a closing gives all of them the same reason.
  const about = pending?.stage.kind === stageKinds.open ? pending.changed : (pending?.deals ?? [])
  return (
    <Suspense fallback={null}>
      {menu && (
        <CardMenu
          anchor={menu.anchor}
          stages={board.columns}
          current={board.columns[placeOf(board, menu.deal)?.column ?? -1]?.id}
          {...{ mayNot, reason }}
          onMove={stage => onMove(menu.deal, stage)}
          isSelected={selected.ids.has(menu.deal)}
          selectedCount={selected.ids.size}
          onOpen={() => onOpen(menu.deal)}
          onEdit={() => setEdited(menu.deal)}
          onSelect={() => selected.toggle(menu.deal)}
          onLog={onLog && (kind => onLog(menu.deal, kind))}
          onPlan={() => onLog?.(menu.deal, 'plan')}
          onClose={onMenuClose}
        />
      )}
      {edited !== null && <EditRecord resource="deal" id={edited} onClose={() => setEdited(null)} />}
      {pending && (
        <MoveDialog
          deal={about[0]!}
          count={about.length}
          from={pending.from.kind}
          stage={pending.stage}
          onClose={() => onAnswer(null)}
          onClosed={onAnswer}
        />
      )}
    </Suspense>
  )
}
