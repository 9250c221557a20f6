/**
 * Changes of cells, as people make them: shown at once, announced, undone, refused with the service's words.
 */
import { useState } from 'react'
import { type AnyRecord, type Field, sayError } from '../api/api.ts'
import type { Stage } from '../api/queries.ts'
import { CloseDialog, type Closing } from '../board/close-dialog.tsx'
import { nameOf } from '../fields/found.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { closingStage } from './deal-stage.ts'
import { sent } from './draft.ts'
import { saveRow } from './write.ts'

export type Change = { readonly record: AnyRecord; readonly field: Field; readonly value: unknown }

export function useSave(
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
  const [asking, setAsking] = useState<{ change: Change; stage: Stage } | null>(null)
  const mark = ({ record, field }: Change, isRefused: boolean) =>
    setRefused(before => {
      const key = `${record.id}.${field.internal_name}`
      const next = new Set(before)
      if (isRefused) next.add(key)
      else next.delete(key)
      return next
    })
  const send = async (change: Change, closing: Closing = {}) => {
    const { record, field, value } = change
    const name = field.internal_name
    try {
      const saved = await saveRow(
        resource,
        record,
        { [name]: value, ...closing },
        { sent: { [name]: sent(field, value), ...closing }, expand },
      )
      mark(change, false)
      const old = { record: saved, field, value: record[name] ?? null }
      toast(`${field.field_name} of ${nameOf(saved)} is changed.`, {
        action: { label: 'Undo', act: () => void send(old) },
      })
    } catch (error) {
      mark(change, true)
      const words = sayError(error)
      toastError(`${field.field_name} of ${nameOf(record)} stays as it was. ${words}`, {
        label: 'Edit again',
        act: () => onRefused(change, words),
      })
    }
  }
  const save = async (change: Change) => {
    const stage = await closingStage(resource, change.field.internal_name, change.value).catch(() => null)
    if (stage) setAsking({ change, stage })
    else await send(change)
  }
  const dialog = asking && (
    <CloseDialog
      deal={{ ...asking.change.record, title: nameOf(asking.change.record) }}
      stage={asking.stage}
      onClose={() => setAsking(null)}
      onClosed={closing => {
        setAsking(null)
        void send(asking.change, closing)
      }}
    />
  )
  return { save, refused, dialog }
}
