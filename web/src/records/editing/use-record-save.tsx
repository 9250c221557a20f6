/** Saves changes of a record: asks for the values that a closing requires, and resolves conflicts. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { addClosingNote } from '../../activities/notes.ts'
import { type AnyRecord, errorMessage } from '../../api/api.ts'
import { queryClient, recordQuery, refresh, stagesQuery } from '../../api/queries.ts'
import { MoveDialog } from '../../board/close-dialog.tsx'
import { nameOf } from '../../fields/references/find-records.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { useIsGone } from '../../ui/use-latest.ts'
import type { ShownRecord } from '../record/use-record.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { stageTransition, withOwnStage } from './deal-rules.ts'
import { EditConflict, serializeValues, update, type Values } from './draft.ts'
import { undoWrite } from './undo-write.ts'
import { unsavedClosings } from './unsaved-closing.ts'

/**
 * Saves values of a loaded record; null if the user gave up. Throws refusals; once the page is left, they are
 * shown in a message instead.
 */
export type Save = (base: AnyRecord, values: Values, message?: string) => Promise<AnyRecord | null>

/** The page must render `dialogs`. */
export function useRecordSave({ resource, fields, expand }: Omit<ShownRecord, 'record'>): {
  save: Save
  dialogs: ReactNode
} {
  const { data: stages = [] } = useQuery({ ...stagesQuery, enabled: resource === 'deal' })
  const [dialog, setDialog] = useState<ReactNode>(null)
  const isGone = useIsGone()
  const giveUp = useRef<() => void>(undefined)
  const answered = useRef<Promise<unknown>>(Promise.resolve())
  useEffect(() => () => giveUp.current?.(), [])

  /** Shows a dialog, after those before it, until it is answered; leaving the page answers null. */
  const showDialog = <T,>(render: (answer: (given: T | null) => void) => ReactNode) => {
    const answer = answered.current.then(() =>
      isGone.current
        ? null
        : new Promise<T | null>(resolve => {
            giveUp.current = () => resolve(null)
            setDialog(
              render(given => {
                setDialog(null)
                resolve(given)
              }),
            )
          }),
    )
    answered.current = answer
    return answer
  }

  /** `isOwn`: False if the user keeps what others have saved, so that nothing was written. */
  const write = async (
    base: AnyRecord,
    values: Values,
  ): Promise<{ after: AnyRecord; isOwn: boolean } | null> => {
    try {
      return { after: await update(resource, base, serializeValues(values, fields), expand), isOwn: true }
    } catch (error) {
      if (!(error instanceof EditConflict) || isGone.current) throw error
      const { theirs } = error
      const kept = await showDialog<Values>(answer => (
        <ConflictDialog conflict={error} values={values} fields={fields} base={base} onAnswer={answer} />
      ))
      if (isGone.current) throw error
      if (kept === null) return null
      return Object.keys(kept).length > 0 ? write(theirs, kept) : { after: theirs, isOwn: false }
    }
  }

  const save: Save = async (base, changes, message) => {
    const isMoved = resource === 'deal' && 'pipeline' in changes && !('pipeline_stage' in changes)
    const values = isMoved ? withOwnStage(base, changes, stages) : changes
    const transition = resource === 'deal' ? stageTransition(base, values, stages) : undefined
    const closing = transition
      ? await showDialog<{ values: Values; note: string }>(answer => (
          <MoveDialog
            deal={{ ...base, title: nameOf(base) }}
            from={transition.from?.kind}
            stage={transition.to}
            onClose={() => answer(null)}
            onClosed={(values, note) => answer({ values, note })}
          />
        ))
      : { values: {}, note: '' }
    if (closing === null) return null
    const names = Object.keys({ ...values, ...closing.values })
    const written = await write(base, { ...values, ...closing.values }).catch(error => {
      if (!isGone.current) throw error
      toastError(describeUnsaved(labelsOf(names, fields), base, error))
      return null
    })
    if (!written) return null
    const { after, isOwn } = written
    if (transition) unsavedClosings.delete(after.id)
    queryClient.setQueryData(recordQuery(resource, after.id, expand).queryKey, after)
    // Others may have changed any field of one that they have saved.
    void refresh(resource, undefined, isOwn ? names : undefined)
    if (!isOwn) {
      toast('Nothing was changed: what somebody else has saved stays.', { isNews: true })
      return after
    }
    const removeNote = await addClosingNote(after, closing.note)
    toast(message ?? `Saved ${labelsOf(names, fields)}.`, {
      action: {
        label: 'Undo',
        // The page may be gone: a conflict is reported, not resolved in a dialog.
        act: async () => {
          try {
            const undone = await undoWrite(resource, base, after, expand)
            await removeNote()
            queryClient.setQueryData(recordQuery(resource, undone.id, expand).queryKey, undone)
            void refresh(resource, undefined, names)
            toast(`Undone: ${labelsOf(names, fields)}.`, { isNews: true })
          } catch (error) {
            toastError(errorMessage(error))
          }
        },
      },
    })
    return after
  }
  return { save, dialogs: dialog }
}

/** The message of a refusal that has no input to stand at any more. */
export function describeUnsaved(labels: string, record: AnyRecord, error: unknown): string {
  return `${labels} of ${nameOf(record)}: not saved. ${errorMessage(error)}`
}

function labelsOf(names: readonly string[], fields: ShownRecord['fields']): string {
  return names
    .map(name => fields.find(({ internal_name }) => internal_name === name)?.field_name ?? name)
    .join(', ')
}
