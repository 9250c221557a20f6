/**
 * A move is one request. The card is in its new column at once; a refusal takes it back to its place, with
 * the service's words. Undo is the move back.
 */
import { useMemo } from 'react'
import { api, DealwrightError, sayError, VersionConflict } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { announce, toast, toastError } from '../ui/toast.tsx'
import { type BoardAsked, boardQuery, usualSort } from './board-query.ts'
import type { Closing } from './close-dialog.tsx'
import { type BoardData, type Deal, moved, placeOf, replaced, rowFor } from './model.ts'

export type Move = (id: number, stage: number, closing?: Closing) => Promise<boolean>

export function useMove(asked: BoardAsked): Move {
  return useMemo(() => mover(asked), [asked])
}

function mover(asked: BoardAsked): Move {
  const { queryKey } = boardQuery(asked)
  const change = (how: (board: BoardData) => BoardData) =>
    queryClient.setQueryData<BoardData>(queryKey, board => board && how(board))
  return async function move(id, stage, closing = {}) {
    // A board that is being read would bring the card back to where it was.
    await queryClient.cancelQueries({ queryKey })
    const board = queryClient.getQueryData<BoardData>(queryKey)
    const place = board && placeOf(board, id)
    if (!board || !place) return false
    const from = board.columns[place.column]!
    const to = board.columns.find(column => column.id === stage)
    const deal = from.cards[place.row]!
    if (!to || to.id === from.id) return false
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
      return true
    } catch (error) {
      change(current => moved(current, id, from.id, place.row))
      if (error instanceof VersionConflict)
        await changedByOthers(deal, to.name, () => void move(id, stage, closing))
      else toastError(`${deal.title} stays in ${from.name}. ${sayError(error)}`)
      return false
    }
  }

  /** Somebody else has changed the deal: it goes to where they have it, and one may move it from there. */
  async function changedByOthers(deal: Deal, wanted: string, again: () => void): Promise<void> {
    try {
      const now = (await api.deal.get(deal.id)) as unknown as Deal
      const stage = now.pipeline_stage as number
      change(current => replaced(moved(current, deal.id, stage, 0), now))
      const name = queryClient.getQueryData<BoardData>(queryKey)?.columns.find(({ id }) => id === stage)?.name
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
