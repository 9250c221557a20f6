/**
 * A move is one request. The card is in its new column at once; a refusal takes it back to its place, with
 * the service's words. Undo is the move back.
 */
import { useMemo } from 'react'
import { api, DealwrightError, sayError, VersionConflict } from '../api/api.ts'
import { queryClient, refresh } from '../api/queries.ts'
import { announce, toast, toastError } from '../ui/toast.tsx'
import { type BoardAsked, boardQuery, usualSort } from './board-query.ts'
import type { Closing } from './close-dialog.tsx'
import { type BoardData, type Deal, moved, placeOf, replaced, rowFor } from './model.ts'

/** Answers where the card is then, moved or not; null: not on the board. */
export type Move = (id: number, stage: number, closing?: Closing) => Promise<Landed | null>
export type Landed = { readonly stage: number; readonly row: number }

export function useMove(asked: BoardAsked): Move {
  return useMemo(() => mover(asked), [asked])
}

function mover(asked: BoardAsked): Move {
  const { queryKey } = boardQuery(asked)
  const change = (how: (board: BoardData) => BoardData) =>
    queryClient.setQueryData<BoardData>(queryKey, board => board && how(board))
  const now = () => queryClient.getQueryData<BoardData>(queryKey)
  // A board that is read meanwhile would bring cards back: it is read again after the last move.
  let [underWay, isOld] = [0, false]
  const landed = (id: number): Landed | null => {
    const board = now()
    const place = board && placeOf(board, id)
    return place ? { stage: board.columns[place.column]!.id, row: place.row } : null
  }
  return async function move(id, stage, closing = {}) {
    const board = now()
    const place = board && placeOf(board, id)
    if (!board || !place) return null
    const from = board.columns[place.column]!
    const to = board.columns.find(column => column.id === stage)
    const deal = from.cards[place.row]!
    if (!to || to.id === from.id) return landed(id)
    underWay++
    isOld ||= queryClient.isFetching({ queryKey }) > 0
    await queryClient.cancelQueries({ queryKey })
    const row = rowFor(to, deal, asked.sort ?? usualSort)
    change(current => moved(current, id, stage, row))
    announce(`${deal.title} moved from ${from.name} to ${to.name}, ${row + 1} of ${to.count + 1}`)
    try {
      const saved = await api.deal.update(
        { id, version: deal.version ?? null },
        { pipeline_stage: stage, ...closing },
      )
      change(current => replaced(current, saved as unknown as Deal))
      const isBack = from.kind === 1
      const action = isBack ? { label: 'Undo', act: () => void move(id, from.id) } : undefined
      toast(`${deal.title} is in ${to.name} now.`, { action })
      // Elsewhere the deal is shown as it was.
      void refresh('deal', 'board')
    } catch (error) {
      change(current => moved(current, id, from.id, place.row))
      if (error instanceof VersionConflict)
        await changedByOthers(deal, to.name, () => void move(id, stage, closing))
      else toastError(`${deal.title} stays in ${from.name}. ${sayError(error)}`)
    } finally {
      if (--underWay === 0 && isOld) {
        isOld = false
        void queryClient.invalidateQueries({ queryKey })
      }
    }
    return landed(id)
  }

  /** Somebody else has changed the deal: it goes to where they have it, and one may move it from there. */
  async function changedByOthers(deal: Deal, wanted: string, again: () => void): Promise<void> {
    try {
      const theirs = (await api.deal.get(deal.id)) as unknown as Deal
      const stage = theirs.pipeline_stage as number
      change(current => replaced(moved(current, deal.id, stage, 0), theirs))
      const name = now()?.columns.find(({ id }) => id === stage)?.name
      const action = { label: `Move to ${wanted}`, act: again }
      toastError(
        `Somebody has changed ${deal.title} meanwhile: it is in ${name ?? 'another pipeline'}.`,
        action,
      )
    } catch (error) {
      if (error instanceof DealwrightError && error.status === 404)
        await queryClient.invalidateQueries({ queryKey })
      toastError(sayError(error))
    }
  }
}
