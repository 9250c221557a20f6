/** The cell that is being edited, and the next one to edit. */
import { useRef, useState } from 'react'
import type { AnyRecord } from '../../api/api.ts'
import { announce } from '../../ui/toast.tsx'
import type { ShownColumn } from '../table/layout.ts'
import type { Editing, Then } from './cell-editor.tsx'
import type { Cell } from './grid.ts'
import type { Active } from './use-active.ts'

export function useEditing(props: {
  active: () => Active
  columns: readonly ShownColumn[]
  rowAt: () => (row: number) => AnyRecord | undefined
  reason: string | undefined
}) {
  const { active, columns, rowAt, reason } = props
  const [editing, setEditing] = useState<Editing | null>(null)
  const cell = useRef<HTMLElement | null>(null)
  const edit = ({ row, column }: Cell, more: Pick<Editing, 'draft' | 'error'> | object = {}): void => {
    const record = rowAt()(row)
    const field = columns[column - 1]?.field
    if (!record || !field) return
    if (field.is_read_only || reason) {
      announce(reason ?? `${field.field_name} can’t be changed.`)
      return
    }
    cell.current = active().elementOf({ row, column })
    active().go({ row, column })
    // The cell to which the editor returns the focus.
    cell.current?.focus({ preventScroll: true })
    setEditing({ row, column, record, field, ...more })
  }
  const leave = (then: Then): void => {
    if (!editing) return
    setEditing(null)
    active().refocus()
    const step = then === 'next' ? 1 : -1
    if (then === 'stay') return
    for (let column = editing.column + step; column > 0 && column <= columns.length; column += step) {
      if (columns[column - 1]!.field.is_read_only) continue
      const next = { row: active().cell.row, column }
      active().go(next)
      // The cell can be edited once it is drawn.
      requestAnimationFrame(() => edit(next))
      return
    }
  }
  return { editing, edit, leave, cell }
}
