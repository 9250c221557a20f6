/** Opens the editor of a refused cell again, with what was typed, wherever its row is by then. */
import { useEffect, useEffectEvent, useState } from 'react'
import type { AnyRecord } from '../../api/api.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { toast } from '../../ui/toast.tsx'
import { useIsGone } from '../../ui/use-latest.ts'
import type { ShownColumn } from '../table/layout.ts'
import type { Window } from '../table/use-window.ts'
import type { Editing } from './cell-editor.tsx'
import type { Cell } from './grid.ts'
import type { Active } from './use-active.ts'
import type { Change } from './use-cell-save.tsx'

/** Others' changes move a row by a few: it is looked for among so many on either side. */
const nearby = 1000

type Grid = {
  readonly active: Active
  readonly columns: readonly ShownColumn[]
  readonly rows: number
  readonly window: Window
  readonly edit: (cell: Cell, more: Pick<Editing, 'draft' | 'error'>) => void
  readonly open: (id: number) => void
}

export function useEditAgain({ active, columns, rows, window, edit, open }: Grid) {
  const [wanted, setWanted] = useState<{ readonly change: Change; readonly error: string } | null>(null)
  const [isShown, setShown] = useState(false)
  const isGone = useIsGone()
  const openWhole = (record: AnyRecord) => {
    toast(`${nameOf(record)} is not in this list any more: here it is.`, { isNews: true })
    open(record.id)
  }
  /** Scrolls to the row, or to where it was, then edits the cell once that is drawn. */
  const step = useEffectEvent(() => {
    if (!wanted) return
    const { record, field, value, row } = wanted.change
    const column = columns.findIndex(one => one.field.internal_name === field.internal_name) + 1
    const found = column > 0 ? nearest(row, rows, index => window.rowAt(index)?.id === record.id) : undefined
    const last = Math.min(row, rows - 1)
    const isRead = (window.rowAt(last) ?? window.groupAt(last)) !== undefined && !window.isFetching
    if (found !== undefined && active.elementOf({ row: found, column })) {
      setWanted(null)
      edit({ row: found, column }, { draft: value, error: wanted.error })
    } else if (found !== undefined) active.go({ row: found, column })
    else if (column === 0 || rows === 0 || window.error || (isShown && isRead)) {
      setWanted(null)
      openWhole(record)
    } else if (!isShown) {
      setShown(true)
      active.go({ row: last, column })
    }
  })
  useEffect(() => step())
  return (change: Change, error: string): void => {
    setShown(false)
    setWanted({ change, error })
    if (isGone.current) open(change.record.id)
  }
}

function nearest(from: number, rows: number, isIt: (row: number) => boolean): number | undefined {
  for (let distance = 0; distance <= nearby; distance++)
    for (const row of [from - distance, from + distance]) if (row >= 0 && row < rows && isIt(row)) return row
  return undefined
}
