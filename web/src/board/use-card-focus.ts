/** The focus follows its card: in another column a card is another element, and the former one is removed. */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { focusCard } from './board-keys.ts'
import { type BoardData, placeOf } from './model.ts'

const isNowhere = () => document.activeElement === null || document.activeElement === document.body

/**
 * Returns the function that notes which card has the focus, or will get it. `opened` is the deal shown over
 * the board: closing it returns the focus to its card.
 */
export function useCardFocus(
  element: RefObject<HTMLElement | null>,
  board: BoardData,
  opened: number | null,
): (deal: number | null) => void {
  const held = useRef<number | null>(null)
  const latest = useRef(board)
  latest.current = board
  const follow = useCallback(() => {
    const place = held.current === null ? null : placeOf(latest.current, held.current)
    if (!place || !element.current) return
    focusCard(element.current, latest.current.columns[place.column]!.id, place.row, held.current!)
  }, [element])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows each change of the board
  useLayoutEffect(() => {
    if (isNowhere()) follow()
  }, [board, follow])
  useEffect(() => {
    if (opened === null) return
    return () => {
      held.current = opened
      // The overlay restores the focus itself, if the element is still there.
      const look = () => (isNowhere() || document.activeElement?.matches('h1')) && follow()
      requestAnimationFrame(() => requestAnimationFrame(look))
    }
  }, [opened, follow])
  return useCallback(deal => {
    held.current = deal
  }, [])
}
