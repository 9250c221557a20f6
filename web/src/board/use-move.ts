/**
 * A move is one request. The card is in its new column at once (optimistic update); a refusal rolls it back,
 * with the service's words. Moves of one card are sent one after the other.
 */
import { useMemo } from 'react'
import type { RemoveNote } from '../activities/notes.ts'
import { api, DealwrightError, errorMessage, UserError, VersionConflict } from '../api/api.ts'
import { besideReads } from '../api/beside-reads.ts'
import { queryClient, refresh } from '../api/queries.ts'
import { undoWrite } from '../records/editing/undo-write.ts'
import { unsavedClosings } from '../records/editing/unsaved-closing.ts'
import { announce, toast, toastError } from '../ui/toast.tsx'
import { type BoardRequest, boardQuery, defaultSort } from './board-query.ts'
import type { Closing } from './close-dialog.tsx'
import { type BoardData, type Column, type Deal, moved, placeOf, replaced, rowFor } from './model.ts'

/** Resolves when the service has answered. `deal` has the values of the time when the move began. */
export type Move = (deal: Deal, stage: number, closing?: Closing, note?: string) => Promise<void>

export function useMove(request: BoardRequest): Move {
  return useMemo(() => mover(request), [request])
}

/** Adds the note of a saved move. Then says where the deal is. */
async function report(
  saved: Deal,
  stage: string,
  note: string,
  takeBack: (saved: Deal, removeNote: RemoveNote) => Promise<void>,
): Promise<void> {
  // The dialog has loaded it already.
  const removeNote = note
    ? await (await import('../activities/notes.ts')).addClosingNote(saved, note)
    : async () => {}
  const act = () => takeBack(saved, removeNote)
  toast(`${saved.title} is in ${stage} now.`, { action: { label: 'Undo', act } })
}

/**
 * Shows deals in another column at once; the caller writes them and refetches the board. The result takes
 * them back to where they were.
 */
export function showMoved(request: BoardRequest, ids: Iterable<number>, stage: number): () => void {
  const show = (board: BoardData, id: number): BoardData => {
    const place = placeOf(board, id)
    const to = board.columns.find(column => column.id === stage)
    if (!place || !to) return board
    const deal = board.columns[place.column]!.cards[place.row]!
    return moved(board, id, stage, rowFor(to, deal, request.sort ?? defaultSort))
  }
  const { queryKey } = boardQuery(request)
  const before = queryClient.getQueryData<BoardData>(queryKey)
  const change = (how: (board: BoardData) => BoardData) =>
    queryClient.setQueryData<BoardData>(queryKey, board => board && how(board))
  change(board => [...ids].reduce(show, board))
  return () => change(board => [...ids].reduce((now, id) => movedBack(now, id, before), board))
}

/** The board with a deal where it was on another one. */
function movedBack(board: BoardData, id: number, before: BoardData | undefined): BoardData {
  const place = before && placeOf(before, id)
  return place ? moved(board, id, before.columns[place.column]!.id, place.row) : board
}

/** The saved deal. What is sent for a stage that the role locks is ignored: here that is a refusal. */
function inStage(stage: number, saved: Deal): Deal {
  if (saved.pipeline_stage !== stage) throw new UserError('Your role may not change the stage.')
  return saved
}

function mover(request: BoardRequest): Move {
  const { queryKey } = boardQuery(request)
  const change = (how: (board: BoardData) => BoardData) =>
    queryClient.setQueryData<BoardData>(queryKey, board => board && how(board))
  const now = () => queryClient.getQueryData<BoardData>(queryKey)
  /** A deal as the board shows it now, and its stage. */
  const shown = (id: number): { deal?: Deal | undefined; stage?: number } => {
    const board = now()
    const place = board && placeOf(board, id)
    if (!place) return {}
    const { id: stage, cards } = board.columns[place.column]!
    return { deal: cards[place.row], stage }
  }
  /** Deal → its last pending write; the next one waits for its result. */
  const writes = new Map<number, Promise<unknown>>()
  const during = (act: (readAgain: () => void) => Promise<void>) =>
    besideReads(queryKey, async readAgain => {
      await queryClient.cancelQueries({ queryKey })
      await act(readAgain)
    })
  /** Sends a write of a deal after its earlier ones, and shows the result. */
  const write = async (id: number, send: () => Promise<unknown>): Promise<Deal> => {
    const sent = (writes.get(id) ?? Promise.resolve()).then(async () => {
      const saved = (await send()) as Deal
      change(current => replaced(current, saved))
      return saved
    })
    const ended = sent.catch(() => {})
    writes.set(id, ended)
    try {
      return await sent
    } finally {
      if (writes.get(id) === ended) writes.delete(id)
    }
  }

  const move: Move = async (begun, stage, closing = {}, note = '') => {
    const { id } = begun
    // The card may have left the loaded windows since, by others' changes.
    const { deal = begun, stage: shownIn = begun.pipeline_stage } = shown(id)
    const board = now()
    const place = board && placeOf(board, id)
    const columnOf = (wanted: unknown) => board?.columns.find(column => column.id === wanted)
    const [from, to] = [columnOf(shownIn), columnOf(stage)]
    if (!from || !to)
      return toastError(`${deal.title} was not moved: the board has not both stages any more.`)
    if (to === from) return toast(`${deal.title} is in ${to.name} already.`, { isNews: true })
    let before = deal
    let saved: Deal | undefined
    await during(async readAgain => {
      const row = rowFor(to, deal, request.sort ?? defaultSort)
      change(current => moved(current, id, stage, row))
      announce(`${deal.title} moved from ${from.name} to ${to.name}, ${row + 1} of ${to.count + 1}`)
      const isSecond = writes.has(id)
      if (!place) readAgain()
      try {
        const send = () => {
          before = shown(id).deal ?? deal
          const { version = null } = before
          return api.deal.update({ id, version }, { pipeline_stage: stage, ...closing })
        }
        saved = inStage(stage, await write(id, send))
        unsavedClosings.delete(id)
        // An earlier move may have been refused meanwhile, or another begun.
        if (!writes.has(id) && shown(id).stage !== stage) change(current => moved(current, id, stage, row))
        // Other queries still show the old stage.
        void refresh('deal', 'board')
      } catch (error) {
        if (isSecond) readAgain()
        change(current => moved(current, id, from.id, place?.row ?? 0))
        if (error instanceof VersionConflict)
          await changedByOthers(deal, to.name, theirs => void move(theirs, stage, closing, note))
        else toastError(`${deal.title} stays in ${from.name}. ${errorMessage(error)}`)
      }
    })
    if (saved) await report(saved, to.name, note, (...back) => takeBack(before, from, ...back))
  }
  return move

  /** Undoes a move exactly, including the reason, the closing date, the date of the stage, and the note. */
  async function takeBack(before: Deal, { id: stage, name }: Column, saved: Deal, removeNote: RemoveNote) {
    const { id, title } = saved
    const { stage: left } = shown(id)
    await during(async () => {
      const to = now()?.columns.find(column => column.id === stage)
      const row = to ? rowFor(to, before, request.sort ?? defaultSort) : 0
      change(current => moved(current, id, stage, row))
      announce(`${title} moved back to ${name}`)
      try {
        await write(id, () => undoWrite('deal', before, saved))
        await removeNote()
        toast(`${title} is in ${name} again.`, { isNews: true })
        void refresh('deal', 'board')
      } catch (error) {
        if (left !== undefined) change(current => moved(current, id, left, 0))
        toastError(`${title} was not moved back. ${errorMessage(error)}`)
      }
    })
  }

  /** After a version conflict: shows the deal in its current stage, and offers the move again. */
  async function changedByOthers(deal: Deal, wanted: string, again: (theirs: Deal) => void): Promise<void> {
    try {
      const theirs = (await api.deal.get(deal.id)) as unknown as Deal
      const stage = theirs.pipeline_stage as number
      change(current => replaced(moved(current, deal.id, stage, 0), theirs))
      const name = now()?.columns.find(({ id }) => id === stage)?.name
      const action = { label: `Move to ${wanted}`, act: () => again(theirs) }
      toastError(
        `Somebody has changed ${deal.title} meanwhile: it is in ${name ?? 'another pipeline'}.`,
        action,
      )
    } catch (error) {
      if (error instanceof DealwrightError && error.status === 404)
        await queryClient.invalidateQueries({ queryKey })
      toastError(errorMessage(error))
    }
  }
}
