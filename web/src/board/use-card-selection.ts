/** The cards of a board that are selected, to be changed together: by Space, and by Shift and a click. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { announce } from '../ui/toast.tsx'
import { type BoardData, placeOf } from './model.ts'

export type CardSelection = {
  readonly ids: ReadonlySet<number>
  /** whether anything was selected, since the board is shown */
  readonly wasUsed: boolean
  readonly toggle: (deal: number) => void
  /** selects from the card that was selected last, where both are in one column */
  readonly extend: (deal: number) => void
  readonly clear: () => void
}

const none: ReadonlySet<number> = new Set()

/** Cards that leave the board leave the selection. */
export function useCardSelection(board: BoardData): CardSelection {
  const [chosen, setChosen] = useState(none)
  const [wasUsed, setUsed] = useState(false)
  const last = useRef<number | null>(null)
  const ids = useMemo(() => {
    if (chosen.size === 0) return none
    return new Set([...chosen].filter(id => placeOf(board, id) !== null))
  }, [board, chosen])
  const choose = (deal: number, next: ReadonlySet<number>) => {
    last.current = deal
    setUsed(true)
    setChosen(next)
    announce(`${next.size} selected`)
  }
  const toggle = (deal: number) => {
    const next = new Set(ids)
    if (!next.delete(deal)) next.add(deal)
    choose(deal, next)
  }
  const extend = (deal: number) => {
    const from = last.current === null ? null : placeOf(board, last.current)
    const to = placeOf(board, deal)
    if (!from || !to || from.column !== to.column || ids.size === 0) return toggle(deal)
    const [first, end] = [Math.min(from.row, to.row), Math.max(from.row, to.row)]
    // A card that has not been read yet is in none.
    const between = board.columns[to.column]!.cards.slice(first, end + 1).flatMap(card => card?.id ?? [])
    choose(deal, new Set([...ids, ...between]))
  }
  const clear = useCallback(() => setChosen(none), [])
  return { ids, wasUsed, toggle, extend, clear }
}
