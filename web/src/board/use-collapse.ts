/** The collapsed columns of this browser. */
import { type RefObject, useCallback } from 'react'
import { prefer, preferences } from '../shell/preferences.ts'
import { columnOf } from './board-keys.ts'

/** Collapses a column of the board, or expands it. */
export function useCollapse(board: RefObject<HTMLElement | null>): (stage: number) => void {
  return useCallback(
    stage => {
      const before = preferences().collapsedStages
      const others = before.filter(id => id !== stage)
      prefer({ collapsedStages: others.length < before.length ? others : [...others, stage] })
      // The pressed button is removed.
      requestAnimationFrame(() => columnOf(board.current!, stage)?.querySelector('button')?.focus())
    },
    [board],
  )
}
