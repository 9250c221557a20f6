/** The focused cell of a grid, and the range from it to an anchor. */
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import type { Layout } from '../table/layout.ts'
import { type Cell, type Range, rangeOf, within } from './grid.ts'

export type Active = {
  readonly cell: Cell
  readonly range: Range | null
  /** Scrolls to a cell and focuses it; `isExtended` extends the range to it. */
  readonly go: (cell: Cell, isExtended?: boolean) => void
  /** Returns the focus to the cell once it is drawn. */
  readonly refocus: () => void
  /** Notes the focused element: if it is removed, the focus moves to the active cell. */
  readonly noteFocus: (element: Element | null) => void
  readonly dropRange: () => void
  readonly elementOf: (cell: Cell) => HTMLElement | null
}

type Grid = {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly layout: Layout
  /** row height, in pixels */
  readonly height: number
  /** height of the rows' area that head and foot cover, in pixels */
  readonly covered: number
  readonly isEditing: boolean
  /** identifies the list: another one begins at its top */
  readonly list: string
  readonly rows: number
}

export function useActive({ scroller, layout, height, covered, isEditing, list, rows }: Grid): Active {
  const [wanted, setCell] = useState<Cell>({ row: 0, column: 1 })
  // Rows and columns may be removed while one has the focus.
  const cell = within(wanted, { rows, columns: layout.columns.length + 1 })
  const focused = useRef<Element>(null)
  const [anchor, setAnchor] = useState<Cell | null>(null)
  const wantsFocus = useRef(false)
  const listShown = useRef(list)
  useLayoutEffect(() => {
    if (listShown.current === list) return
    listShown.current = list
    scroller.current?.scrollTo({ top: 0 })
    setAnchor(null)
    setCell(({ row, column }) => ({ row: Math.min(row, 0), column }))
  }, [list, scroller])
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
    const isLost = focused.current && !focused.current.isConnected && document.activeElement === document.body
    if (!(wantsFocus.current || isLost) || isEditing) return
    const element = elementOf(cell)
    if (!element) return
    wantsFocus.current = false
    element.focus({ preventScroll: true })
  })
  return {
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
    noteFocus: element => {
      focused.current = element
    },
    dropRange: () => setAnchor(null),
    elementOf,
  }
}
