/** Positions of a table's columns. The first, with the checkboxes, and the second are frozen. */
import type { Field } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import type { Column } from './columns.ts'

export type ShownColumn = {
  readonly field: Field
  readonly width: number
  /** from the left edge of the row, in pixels */
  readonly left: number
  readonly isFrozen: boolean
}

export const boxWidth = 40

export type Layout = {
  readonly columns: readonly ShownColumn[]
  /** width of a row, and of its frozen part */
  readonly width: number
  readonly frozen: number
}

/** Only columns with an existing field. On a narrow screen only the checkboxes are frozen. */
export function layoutOf(columns: readonly Column[], fields: readonly Field[], isNarrow: boolean): Layout {
  const shown: ShownColumn[] = []
  let left = boxWidth
  for (const { field: name, width: chosen } of columns) {
    const field = fields.find(({ internal_name }) => internal_name === name)
    if (!field) continue
    const width = chosen ?? Math.max(kindOf(field).width, Math.min(field.field_name.length * 7 + 40, 220))
    shown.push({ field, width, left, isFrozen: shown.length === 0 && !isNarrow })
    left += width
  }
  const [first] = shown
  return { columns: shown, width: left, frozen: boxWidth + (first?.isFrozen ? first.width : 0) }
}

/** Indexes of the columns in view, and of the frozen ones. */
export function columnsIn({ columns, frozen }: Layout, left: number, width: number, kept: number): number[] {
  return columns.flatMap((column, index) => {
    const isSeen = column.left + column.width > left + frozen - 80 && column.left < left + width + 80
    return isSeen || column.isFrozen || index === kept ? [index] : []
  })
}
