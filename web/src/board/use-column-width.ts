/** The width of the columns: as wide as the room allows, and so narrow that six of them fit a laptop. */
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react'
import type { Column } from './model.ts'

const [narrowest, widest, collapsedWidth] = [192, 280, 44]
export const gap = 8
/** Below this room, as on a phone, a column is as wide as it can be. */
const phone = 520

/** Returns the width of a stage's column. */
export function useColumnWidth(
  element: RefObject<HTMLElement | null>,
  columns: readonly Column[],
  collapsed: readonly number[],
): (stage: number) => number {
  const [room, setRoom] = useState(0)
  useLayoutEffect(() => {
    const board = element.current!
    const measure = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(board)
      setRoom(board.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(board)
    return () => observer.disconnect()
  }, [element])
  const folded = columns.filter(({ id }) => collapsed.includes(id)).length
  const open = columns.length - folded
  const share = Math.floor((room - folded * (collapsedWidth + gap)) / Math.max(1, open)) - gap
  const width = room < phone ? widest : Math.min(widest, Math.max(narrowest, share))
  return useCallback(stage => (collapsed.includes(stage) ? collapsedWidth : width), [collapsed, width])
}
