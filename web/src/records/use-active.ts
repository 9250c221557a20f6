/**
 * The cell of a grid that has the focus, the range from it to an anchor, and what of the grid is in sight.
 */
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { type Cell, type Range, rangeOf } from './grid.ts'
import type { Layout } from './layout.ts'
import { type Sight, useScroll } from './use-scroll.ts'

export type Active = {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly sight: Sight
  readonly cell: Cell
  readonly range: Range | null
  /** Brings a cell into sight and gives it the focus; `isExtended` makes the range as far as there. */
  readonly go: (cell: Cell, isExtended?: boolean) => void
  /** The focus goes back to the cell when it is drawn. */
  readonly refocus: () => void
  readonly dropRange: () => void
  readonly elementOf: (cell: Cell) => HTMLElement | null
}

/**
 * `covered` is what head and foot hide of the rows, in pixels. Where `list` is another one, it is shown from
 * its beginning.
 */
export function useActive(
  layout: Layout,
  height: number,
  covered: number,
  isEditing: boolean,
  list: string,
): Active {
  const scroller = useRef<HTMLDivElement>(null)
  const sight = useScroll(scroller)
  const [cell, setCell] = useState<Cell>({ row: 0, column: 1 })
  const [anchor, setAnchor] = useState<Cell | null>(null)
  const wantsFocus = useRef(false)
  const listShown = useRef(list)
  useLayoutEffect(() => {
    if (listShown.current === list) return
    listShown.current = list
    scroller.current?.scrollTo({ top: 0 })
    setAnchor(null)
    setCell(({ row, column }) => ({ row: Math.min(row, 0), column }))
  }, [list])
  const elementOf = ({ row, column }: Cell) =>
    scroller.current?.querySelector<HTMLElement>(`[data-cell="${row}.${column}"]`) ?? null
  const reveal = ({ row, column }: Cell) => {
    const element = scroller.current
    if (!element) return
    if (row >= 0) {
      const [top, bottom] = [row * height, (row + 1) * height - element.clientHeight + covered]
      if (element.scrollTop > top) element.scrollTop = top
      else if (element.scrollTop < bottom) element.scrollTop = bottom
    }
    const place = layout.columns[column - 1]
    if (!place || place.isFrozen) return
    if (element.scrollLeft > place.left - layout.frozen) element.scrollLeft = place.left - layout.frozen
    const end = place.left + place.width - element.clientWidth
    if (element.scrollLeft < end) element.scrollLeft = end
  }
  useLayoutEffect(() => {
    if (!wantsFocus.current || isEditing) return
    const element = elementOf(cell)
    if (!element) return
    wantsFocus.current = false
    element.focus({ preventScroll: true })
  })
  return {
    scroller,
    sight,
    cell,
    range: anchor && rangeOf(anchor, cell),
    go: (next, isExtended = false) => {
      setAnchor(isExtended ? (anchor ?? cell) : null)
      setCell(next)
      reveal(next)
      wantsFocus.current = true
    },
    refocus: () => {
      wantsFocus.current = true
    },
    dropRange: () => setAnchor(null),
    elementOf,
  }
}
