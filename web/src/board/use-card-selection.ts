/** The selected cards of a board, for bulk changes: by Space, and by Shift and a click. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { announce } from '../ui/toast.tsx'
import { type BoardData, placeOf } from './model.ts'

export type CardSelection = {
  readonly ids: ReadonlySet<number>
  /** True if anything was selected since the board is shown */
  readonly wasUsed: boolean
  readonly toggle: (deal: number) => void
  /** selects the range from the last selected card, if both are in one column */
  readonly extend: (deal: number) => void
  readonly clear: () => void
}

const none: ReadonlySet<number> = new Set()

/** Removed cards leave the selection. */
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
    // An unloaded card can't be selected.
    const between = board.columns[to.column]!.cards.slice(first, end + 1).flatMap(card => card?.id ?? [])
    choose(deal, new Set([...ids, ...between]))
  }
  const clear = useCallback(() => setChosen(none), [])
  return { ids, wasUsed, toggle, extend, clear }
}
