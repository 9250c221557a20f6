/** Copies the cells of a range as a spreadsheet does, and pastes such cells: each is parsed by its kind. */
import { type ClipboardEvent, useState } from 'react'
import { type AnyRecord, errorMessage, type Field } from '../../api/api.ts'
import { mayRead, queryClient, stagesQuery } from '../../api/queries.ts'
import { MoveDialog } from '../../board/close-dialog.tsx'
import { ensureCurrencies } from '../../fields/currencies.ts'
import { kindOf } from '../../fields/kinds.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import type { Formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import { announce, toast, toastError } from '../../ui/toast.tsx'
import { inParallel } from '../bulk/in-parallel.ts'
import { keepPage } from '../bulk/keep-page.ts'
import { reopenings } from '../editing/deal-rules.ts'
import { serializeValues } from '../editing/draft.ts'
import { saveRow, undoRow } from '../editing/write.ts'
import type { ShownColumn } from '../table/layout.ts'
import type { Window } from '../table/use-window.ts'
import { parseCells, pasteTargets, printCells } from './cells.ts'
import type { Cell, Range } from './grid.ts'

type Refusal = { readonly name: string; readonly reason: string }

type GridCells = {
  resource: string
  window: Window
  active: Cell
  range: Range | null
  rows: number
  columns: readonly ShownColumn[]
  expand: string
  reason: string | undefined
  onRefusals: (refusals: readonly Refusal[]) => void
}

/** A row with its changes. */
type RowChange = {
  record: AnyRecord
  values: { [field: string]: unknown }
}

/** Cells to be pasted: their changes, and those that are refused. */
type Pasted = { readonly changes: readonly RowChange[]; readonly refusals: readonly Refusal[] }
/** Cells that wait for a confirmation: they reopen deals. */
type Question = Pasted & { readonly reopened: ReturnType<typeof reopenings> }

export function useClipboard(grid: GridCells) {
  const format = useFormat()
  const [asked, setAsked] = useState<Question | null>(null)
  const { active, window, columns } = grid
  const range = grid.range ?? {
    top: active.row,
    bottom: active.row,
    left: active.column,
    right: active.column,
  }
  const isCell = (event: ClipboardEvent) =>
    active.row >= 0 && (event.target as HTMLElement).dataset?.cell !== undefined
  const save = (pasted: Pasted) => savePasted(pasted, grid)
  const paste = async (text: string) => {
    try {
      const pasted = await readPasted(text, { ...grid, range }, format)
      const reopened = await reopenedBy(pasted, grid.resource)
      if (reopened.length > 0) setAsked({ ...pasted, reopened })
      else await save(pasted)
    } catch (error) {
      toastError(errorMessage(error))
    }
  }
  const [first] = asked?.reopened ?? []
  const dialog = asked && first && (
    <MoveDialog
      deal={{ ...first.record, title: nameOf(first.record) }}
      count={asked.reopened.length}
      from={first.from?.kind}
      stage={first.to}
      onClose={() => setAsked(null)}
      onClosed={() => {
        setAsked(null)
        void save(asked)
      }}
    />
  )
  return {
    dialog,
    onCopy: (event: ClipboardEvent) => {
      if (!isCell(event) || range.right < 1) return
      event.preventDefault()
      const copied: string[][] = []
      let missing = 0
      for (let row = range.top; row <= range.bottom; row++) {
        const record = window.rowAt(row)
        if (!record) missing += window.groupAt(row) ? 0 : 1
        else
          copied.push(
            columns
              .slice(Math.max(range.left, 1) - 1, range.right)
              .map(one => textOf(record, one.field, format)),
          )
      }
      event.clipboardData.setData('text/plain', printCells(copied))
      const cells = copied.length * (copied[0]?.length ?? 0)
      const copies = `${format.counted(cells, 'cell is', 'cells are')} copied`
      const unread = format.counted(missing, 'row is', 'rows are')
      if (missing) toastError(`${copies}. ${unread} not loaded yet.`)
      else announce(copies)
    },
    onPaste: (event: ClipboardEvent) => {
      if (!isCell(event) || range.right < 1) return
      event.preventDefault()
      if (grid.reason) toastError(grid.reason)
      else void paste(event.clipboardData.getData('text/plain'))
    },
  }
}

function textOf(record: AnyRecord, field: Field, format: Formats): string {
  const name = field.internal_name
  const value = record[name]
  if (value === null || value === undefined) return ''
  return kindOf(field).text(value, record._expanded?.[name], format, field)
}

async function readPasted(
  text: string,
  { window, range, rows, columns }: GridCells & { range: Range },
  format: Formats,
): Promise<Pasted> {
  await ensureCurrencies()
  const refusals: Refusal[] = []
  const changes = new Map<number, RowChange>()
  const from = { ...range, left: Math.max(range.left, 1) - 1, right: range.right - 1 }
  for (const { row, column, text: typed } of pasteTargets(parseCells(text), from, rows, columns.length)) {
    const record = window.rowAt(row)
    const { field } = columns[column]!
    const name = record ? `${nameOf(record)}, ${field.field_name}` : `Row ${row + 1}, ${field.field_name}`
    const absent = window.groupAt(row) ? 'This row is a group.' : 'This row is not loaded yet.'
    const read = record ? readCell(typed, record, field, format) : { reason: absent }
    if ('reason' in read) refusals.push({ name, reason: read.reason })
    else if (read.isChanged) {
      const change = changes.get(row) ?? { record: record!, values: {} }
      change.values[field.internal_name] = read.value
      changes.set(row, change)
    }
  }
  return { changes: [...changes.values()], refusals }
}

async function reopenedBy({ changes }: Pasted, resource: string): Promise<Question['reopened']> {
  const isOfStage = resource === 'deal' && changes.some(({ values }) => 'pipeline_stage' in values)
  if (!isOfStage || !mayRead('pipeline_stage')) return []
  return reopenings(changes, await queryClient.ensureQueryData(stagesQuery))
}

async function savePasted({ changes, refusals: unread }: Pasted, grid: GridCells): Promise<void> {
  const { resource, columns, expand, onRefusals } = grid
  const refusals = [...unread]
  const fields = columns.map(({ field }) => field)
  const outcome = await keepPage(
    inParallel(changes, ({ record, values }) =>
      saveRow(resource, record, values, { sent: serializeValues(values, fields), expand }),
    ),
  )
  for (const { item, error } of outcome.failed)
    refusals.push({ name: nameOf(item.record), reason: errorMessage(error) })
  const cells = outcome.done.reduce((sum, { item }) => sum + Object.keys(item.values).length, 0)
  const undo = async () => {
    const { failed } = await keepPage(
      inParallel(outcome.done, ({ item: { record: before, values }, result: saved }) =>
        undoRow(resource, { before, saved, names: Object.keys(values) }, expand),
      ),
    )
    if (failed.length) toastError(`${failed.length} could not be undone. ${errorMessage(failed[0]!.error)}`)
    else toast('Undone.', { isNews: true })
  }
  if (cells)
    toast(`${cells} ${cells === 1 ? 'cell is' : 'cells are'} changed.`, {
      action: { label: 'Undo', act: undo },
    })
  else if (!refusals.length) announce('Nothing is changed')
  if (refusals.length) onRefusals(refusals)
}

type ReadCell = { readonly value: unknown; readonly isChanged: boolean } | { readonly reason: string }

/** The value of a pasted text, or the reason why the cell can't accept it. */
function readCell(typed: string, record: AnyRecord, field: Field, format: Formats): ReadCell {
  if (typed === textOf(record, field, format)) return { value: null, isChanged: false }
  if (field.is_read_only) return { reason: 'This can’t be changed.' }
  const { parse, keep, check } = kindOf(field)
  const parsed = parse(typed, field, format)
  const before = record[field.internal_name] ?? null
  const value = parsed && keep ? keep(parsed, before) : parsed
  if (value === undefined) return { reason: `“${typed}” can’t be read here.` }
  if (value === null && field.is_required) return { reason: 'This is required.' }
  const wrong = value === null ? undefined : check?.(value, field)
  return wrong ? { reason: wrong } : { value, isChanged: true }
}
