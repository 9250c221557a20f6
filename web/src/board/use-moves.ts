/**
 * Moves by any way: a drag, a menu, a key. A selected card moves with all selected ones. Closing or reopening
 * a deal asks for confirmation first.
 */
import { useCallback, useState } from 'react'
import { toast, toastError } from '../ui/toast.tsx'
import type { BoardRequest } from './board-query.ts'
import type { Closing } from './close-dialog.tsx'
import { type BoardData, type Column, type Deal, placeOf } from './model.ts'
import type { CardSelection } from './use-card-selection.ts'
import { useMove } from './use-move.ts'

/** Deals that move to a stage. */
type MoveRequest = { readonly deals: readonly Deal[]; readonly stage: Column }
/** A move that waits for confirmation: the deals that it closes or reopens, and the stage of the first. */
export type PendingMove = MoveRequest & { readonly changed: readonly Deal[]; readonly from: Column }
/** A move of several deals, which the selection bar carries out. */
export type BulkMove = MoveRequest & { readonly closing: Closing }

export function useMoves(
  request: BoardRequest,
  board: BoardData,
  selected: CardSelection,
  hold: (deal: number) => void,
) {
  const move = useMove(request)
  const [pending, setPending] = useState<PendingMove | null>(null)
  const [order, setOrder] = useState<BulkMove | null>(null)
  const { ids, unloaded, clear } = selected
  const runMove = useCallback(
    ({ deals, stage }: MoveRequest, closing: Closing = {}, note = '') => {
      const [deal] = deals as [Deal]
      hold(deal.id)
      if (deals.length === 1) return void move(deal, stage.id, closing, note)
      clear()
      setOrder({ deals, stage, closing })
    },
    [move, hold, clear],
  )
  const begin = useCallback(
    (all: readonly number[], stageId: number) => {
      const stage = board.columns.find(({ id }) => id === stageId)
      if (!stage) return
      const going = all.flatMap(id => {
        const place = unloaded.has(id) ? null : placeOf(board, id)
        const deal = place ? board.columns[place.column]!.cards[place.row] : unloaded.get(id)
        const from = place
          ? board.columns[place.column]
          : board.columns.find(column => column.id === deal?.pipeline_stage)
        return deal && from && from !== stage ? [{ deal, from }] : []
      })
      const isKnown = (id: number) => placeOf(board, id) !== null || unloaded.has(id)
      if (!all.some(isKnown))
        return toastError('The card is not on the board any more as it was. Scroll to it, and move it again.')
      const changed = going.filter(({ from }) => from.kind !== stage.kind)
      const deals = going.map(({ deal }) => deal)
      if (changed[0])
        setPending({ deals, stage, from: changed[0].from, changed: changed.map(({ deal }) => deal) })
      else if (deals.length > 0) runMove({ deals, stage })
      else if (all.length > 1) toast(`All ${all.length} are in ${stage.name}.`, { isNews: true })
    },
    [board, unloaded, runMove],
  )
  /** Moves a card, and all selected ones if it is selected. */
  const moveCard = useCallback(
    (id: number, stage: number) => {
      const others = ids.has(id) ? [...ids].filter(other => other !== id) : []
      begin([id, ...others], stage)
    },
    [ids, begin],
  )
  const moveSelected = useCallback((stage: number) => begin([...ids], stage), [ids, begin])
  const answer = (closing: Closing | null, note?: string) => {
    setPending(null)
    if (closing && pending) runMove(pending, closing, note)
  }
  return { moveCard, moveSelected, pending, answer, order, onTaken: () => setOrder(null) }
}
