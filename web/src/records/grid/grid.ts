/** Keyboard navigation of a grid (the APG's grid pattern). Row -1 is the header. Pure. */
import type { AnyRecord } from '../../api/api.ts'

export type Cell = { readonly row: number; readonly column: number }
export type Range = {
  readonly top: number
  readonly bottom: number
  readonly left: number
  readonly right: number
}

type Size = { readonly rows: number; readonly columns: number; readonly page: number }

/** The cell to which a key moves, or null if it is no navigation key. */
export function next(
  { row, column }: Cell,
  key: string,
  { rows, columns, page }: Size,
  isAtEdge: boolean,
): Cell | null {
  const to = (newRow: number, newColumn: number) =>
    within({ row: newRow, column: newColumn }, { rows, columns })
  switch (key) {
    case 'ArrowUp':
      return isAtEdge ? to(0, column) : to(row - 1, column)
    case 'ArrowDown':
      return isAtEdge ? to(rows - 1, column) : to(row + 1, column)
    case 'ArrowLeft':
      return isAtEdge ? to(row, 0) : to(row, column - 1)
    case 'ArrowRight':
      return isAtEdge ? to(row, columns - 1) : to(row, column + 1)
    case 'PageUp':
      return to(Math.max(row - page, 0), column)
    case 'PageDown':
      return to(row + page, column)
    case 'Home':
      return isAtEdge ? to(0, 0) : to(row, 0)
    case 'End':
      return isAtEdge ? to(rows - 1, columns - 1) : to(row, columns - 1)
    default:
      return null
  }
}

/** The cell, or the nearest existing one. */
export function within({ row, column }: Cell, { rows, columns }: Omit<Size, 'page'>): Cell {
  return { row: clamp(row, -1, rows - 1), column: clamp(column, 0, columns - 1) }
}

/** The record of a row; undefined if it is not loaded, or the header of a group. */
export type RowAt = (row: number) => AnyRecord | undefined

/** number of rows in which a record is looked for that others' changes have moved */
const nearRows = 100

/** The row of a record that was in `row`; undefined if it is not near it any more. */
export function rowOf(id: number, row: number, rowAt: RowAt): number | undefined {
  for (let by = 0; by <= nearRows; by++)
    for (const at of [row + by, row - by]) if (rowAt(at)?.id === id) return at
  return undefined
}

/** The cells between two corners. */
export function rangeOf(one: Cell, other: Cell): Range {
  return {
    top: Math.max(Math.min(one.row, other.row), 0),
    bottom: Math.max(one.row, other.row),
    left: Math.min(one.column, other.column),
    right: Math.max(one.column, other.column),
  }
}

export function isIn({ top, bottom, left, right }: Range, { row, column }: Cell): boolean {
  return row >= top && row <= bottom && column >= left && column <= right
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(Math.min(value, most), least)
}
