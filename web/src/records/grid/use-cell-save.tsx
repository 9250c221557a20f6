/**
 * Changes of cells, as people make them: shown at once, announced, undone, refused with the service's words.
 */
import { useState } from 'react'
import { type AnyRecord, type Field, sayError } from '../../api/api.ts'
import { queryClient, type Stage, stagesQuery } from '../../api/queries.ts'
import { MoveDialog } from '../../board/close-dialog.tsx'
import { nameOf } from '../../fields/references/found.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { asksFirst } from '../editing/deal-rules.ts'
import { sent, type Values } from '../editing/draft.ts'
import { saveRow, undoRow } from '../editing/write.ts'

export type Change = { readonly record: AnyRecord; readonly field: Field; readonly value: unknown }

export function useCellSave(
  resource: string,
  expand: string,
  onRefused: (change: Change, words: string) => void,
): {
  save: (change: Change) => Promise<void>
  /** `id.field` of what was refused */
  refused: ReadonlySet<string>
  dialog: React.ReactNode
} {
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const [asking, setAsking] = useState<{ change: Change; from: Stage | undefined; to: Stage } | null>(null)
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
    const words = sayError(error)
    toastError(`${change.field.field_name} of ${nameOf(change.record)} stays as it was. ${words}`, {
      label: 'Edit again',
      act: () => onRefused(change, words),
    })
  }
  /** `more` goes with the value: how a deal has ended. */
  const send = async (change: Change, more: Values = {}) => {
    const { record, field, value } = change
    const name = field.internal_name
    const shown = { ...more, [name]: value }
    try {
      const saved = await saveRow(resource, record, shown, {
        sent: { ...more, [name]: sent(field, value) },
        expand,
      })
      mark(change, false)
      const act = () => undo(change, saved, Object.keys(shown))
      toast(`${field.field_name} of ${nameOf(saved)} is changed.`, { action: { label: 'Undo', act } })
    } catch (error) {
      refuse(change, error)
    }
  }
  const undo = async (change: Change, saved: AnyRecord, names: readonly string[]) => {
    const told = `${change.field.field_name} of ${nameOf(saved)}`
    try {
      await undoRow(resource, { before: change.record, saved, names }, expand)
      toast(`Undone: ${told}.`, { isNews: true })
    } catch (error) {
      toastError(`${told} was not undone. ${sayError(error)}`)
    }
  }
  const save = async (change: Change) => {
    const { record, field, value } = change
    if (resource !== 'deal' || field.internal_name !== 'pipeline_stage') return send(change)
    const stages = await queryClient.ensureQueryData(stagesQuery).catch(() => [])
    const asked = asksFirst(record, { pipeline_stage: value }, stages)
    if (asked) setAsking({ change, ...asked })
    else await send(change)
  }
  const dialog = asking && (
    <MoveDialog
      deal={{ ...asking.change.record, title: nameOf(asking.change.record) }}
      from={asking.from?.kind}
      stage={asking.to}
      onClose={() => setAsking(null)}
      onClosed={closing => {
        setAsking(null)
        void send(asking.change, closing)
      }}
    />
  )
  return { save, refused, dialog }
}
