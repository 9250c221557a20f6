/** Changes of cells by the user: optimistic, announced, undoable, refused with the service's words. */
import { useState } from 'react'
import { addClosingNote, type RemoveNote } from '../../activities/notes.ts'
import { type AnyRecord, callApi, errorMessage, type Field } from '../../api/api.ts'
import { queryClient, type Stage, stagesQuery } from '../../api/queries.ts'
import { MoveDialog } from '../../board/close-dialog.tsx'
import { nameOf } from '../../fields/references/find-records.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { stageTransition, withOwnStage } from '../editing/deal-rules.ts'
import { serializeValue, type Values } from '../editing/draft.ts'
import { unsavedClosings } from '../editing/unsaved-closing.ts'
import { saveRow, undoRow } from '../editing/write.ts'

export type Change = {
  readonly record: AnyRecord
  readonly field: Field
  readonly value: unknown
  /** the row in which the record was */
  readonly row: number
}

/** A change that closes or reopens a deal; `more` is saved with it. */
type Question = {
  readonly change: Change
  readonly more: Values
  readonly from: Stage | undefined
  readonly to: Stage
}

export function useCellSave(
  resource: string,
  expand: string,
  onRefused: (change: Change, words: string) => void,
): {
  save: (change: Change) => Promise<void>
  /** `id.field` of refused changes */
  refused: ReadonlySet<string>
  dialog: React.ReactNode
} {
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const [asking, setAsking] = useState<Question | null>(null)
  const mark = ({ record, field }: Change, isRefused: boolean) =>
    setRefused(before => {
      const key = `${record.id}.${field.internal_name}`
      const next = new Set(before)
      if (isRefused) next.add(key)
      else next.delete(key)
      return next
    })
  const refuse = (change: Change, error: unknown) => {
    mark(change, true)
    const words = errorMessage(error)
    toastError(`${change.field.field_name} of ${nameOf(change.record)} was not changed. ${words}`, {
      label: 'Edit again',
      act: () => onRefused(change, words),
    })
  }
  /** `more` is saved with the value: reason and date of a closed deal. Then its note is added. */
  const send = async (change: Change, more: Values = {}, note = '') => {
    const { record, field, value } = change
    const name = field.internal_name
    const shown = { ...more, [name]: value }
    try {
      const saved = await saveRow(resource, record, shown, {
        sent: { ...more, [name]: serializeValue(field, value) },
        expand,
      })
      mark(change, false)
      if ('pipeline_stage' in shown) unsavedClosings.delete(saved.id)
      const removeNote = await addClosingNote(saved, note)
      const act = () => undo(change, saved, Object.keys(shown), removeNote)
      toast(`${field.field_name} of ${nameOf(saved)} is changed.`, { action: { label: 'Undo', act } })
    } catch (error) {
      refuse(change, error)
    }
  }
  const undo = async (change: Change, saved: AnyRecord, names: readonly string[], removeNote: RemoveNote) => {
    const label = `${change.field.field_name} of ${nameOf(saved)}`
    try {
      await undoRow(resource, { before: change.record, saved, names }, expand)
      await removeNote()
      toast(`Undone: ${label}.`, { isNews: true })
    } catch (error) {
      toastError(`${label} was not undone. ${errorMessage(error)}`)
    }
  }
  const save = async (change: Change) => {
    const { record, field, value } = change
    const name = field.internal_name
    if (resource !== 'deal' || !['pipeline', 'pipeline_stage'].includes(name)) return send(change)
    const stages = await queryClient.ensureQueryData(stagesQuery).catch(() => [])
    try {
      const before = name === 'pipeline' ? await withStoredStage(record) : record
      const changes =
        name === 'pipeline' ? withOwnStage(before, { pipeline: value }, stages) : { [name]: value }
      const { [name]: _, ...more } = changes
      const transition = stageTransition(before, changes, stages)
      const changed = { ...change, record: before }
      if (transition) setAsking({ change: changed, more, ...transition })
      else await send(changed, more)
    } catch (error) {
      refuse(change, error)
    }
  }
  const dialog = asking && (
    <MoveDialog
      deal={{ ...asking.change.record, title: nameOf(asking.change.record) }}
      from={asking.from?.kind}
      stage={asking.to}
      onClose={() => setAsking(null)}
      onClosed={(closing, note) => {
        setAsking(null)
        void send(asking.change, { ...asking.more, ...closing }, note)
      }}
    />
  )
  return { save, refused, dialog }
}

/** A row has its stage only where that is a column. */
async function withStoredStage(row: AnyRecord): Promise<AnyRecord> {
  if ('pipeline_stage' in row) return row
  const { pipeline_stage } = await callApi<AnyRecord>('GET', `/deal/${row.id}`)
  return { ...row, pipeline_stage }
}
