/** The focused cell of a grid, and the range from it to an anchor. */
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import type { Layout } from '../table/layout.ts'
import { type Cell, type Range, type RowAt, rangeOf, rowOf, within } from './grid.ts'

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
  readonly rowAt: RowAt
}

/** A cell of a record, which may move to another row. */
type Place = Cell & { readonly id?: number | undefined }

/** The place of the record, which others' changes may have moved; null if it is gone. */
function follow(place: Place, rowAt: RowAt): Place | null {
  const found = rowAt(place.row)?.id
  if (found === undefined || found === place.id) return place
  const row = place.id === undefined ? undefined : rowOf(place.id, place.row, rowAt)
  return row === undefined ? null : { ...place, row }
}

export function useActive(grid: Grid): Active {
  const { scroller, layout, height, covered, isEditing, list, rows, rowAt } = grid
  const [wanted, setCell] = useState<Place>({ row: 0, column: 1 })
  // Rows and columns may be removed while one has the focus.
  const cell: Place = { ...wanted, ...within(wanted, { rows, columns: layout.columns.length + 1 }) }
  const focused = useRef<Element>(null)
  const [anchor, setAnchor] = useState<Place | null>(null)
  const wantsFocus = useRef(false)
  const listShown = useRef(list)
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
  useLayoutEffect(() => {
    if (listShown.current !== list) {
      listShown.current = list
      scroller.current?.scrollTo({ top: 0 })
      setAnchor(null)
      setCell(({ row, column }) => ({ row: Math.min(row, 0), column }))
      return
    }
    const next = follow(cell, rowAt)
    const begin = anchor && follow(anchor, rowAt)
    if (next === cell && begin === anchor) return
    // The record is gone: the one in its place is active. A range that lacks or gains a row is none any more.
    setCell(next ?? { ...cell, id: rowAt(cell.row)?.id })
    setAnchor(next && begin && anchor && next.row - begin.row === cell.row - anchor.row ? begin : null)
    if (!next || !elementOf(cell)?.contains(document.activeElement)) return
    reveal(next)
    wantsFocus.current = true
  })
  return {
    cell,
    range: anchor && rangeOf(anchor, cell),
    go: (next, isExtended = false) => {
      setAnchor(isExtended ? (anchor ?? cell) : null)
      setCell({ ...next, id: rowAt(next.row)?.id })
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
