/**
 * Saves changes of a record: asks what closing it takes, and what to keep where others have changed the same.
 */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type AnyRecord, sayError } from '../../api/api.ts'
import { queryClient, recordQuery, refresh, stagesQuery } from '../../api/queries.ts'
import { MoveDialog } from '../../board/close-dialog.tsx'
import { nameOf } from '../../fields/references/found.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import type { ShownRecord } from '../record/use-record.ts'
import { ClashDialog } from './clash-dialog.tsx'
import { asksFirst } from './deal-rules.ts'
import { Clash, update, type Values, written } from './draft.ts'
import { undoWrite } from './undo-write.ts'

/** Saves values of a record as it was read; null where it was given up. Refused ones throw. */
export type Save = (base: AnyRecord, values: Values, said?: string) => Promise<AnyRecord | null>

/** `dialogs` must stand on the page. */
export function useRecordSave({ resource, fields, expand }: Omit<ShownRecord, 'record'>): {
  save: Save
  dialogs: ReactNode
} {
  const { data: stages = [] } = useQuery({ ...stagesQuery, enabled: resource === 'deal' })
  const [asked, setAsked] = useState<ReactNode>(null)

  /** Shows a dialog until it is answered. */
  const ask = <T,>(dialog: (answer: (given: T | null) => void) => ReactNode) =>
    new Promise<T | null>(resolve => {
      setAsked(
        dialog(given => {
          setAsked(null)
          resolve(given)
        }),
      )
    })

  const write = async (base: AnyRecord, values: Values): Promise<AnyRecord | null> => {
    try {
      return await update(resource, base, written(values, fields), expand)
    } catch (error) {
      if (!(error instanceof Clash)) throw error
      const { theirs } = error
      const kept = await ask<Values>(answer => (
        <ClashDialog clash={error} values={values} fields={fields} base={base} onAnswer={answer} />
      ))
      if (kept === null) return null
      return Object.keys(kept).length > 0 ? write(theirs, kept) : theirs
    }
  }

  const save: Save = async (base, values, said) => {
    const asked = resource === 'deal' ? asksFirst(base, values, stages) : undefined
    const closing = asked
      ? await ask<Values>(answer => (
          <MoveDialog
            deal={{ ...base, title: nameOf(base) }}
            from={asked.from?.kind}
            stage={asked.to}
            onClose={() => answer(null)}
            onClosed={answer}
          />
        ))
      : {}
    if (closing === null) return null
    const after = await write(base, { ...values, ...closing })
    if (!after) return null
    queryClient.setQueryData(recordQuery(resource, after.id, expand).queryKey, after)
    void refresh(resource)
    const names = Object.keys({ ...values, ...closing })
    toast(said ?? `Saved ${labelsOf(names, fields)}.`, {
      action: {
        label: 'Undo',
        // The page may be gone: what others have changed meanwhile is told, and not asked.
        act: async () => {
          try {
            const undone = await undoWrite(resource, base, after, expand)
            queryClient.setQueryData(recordQuery(resource, undone.id, expand).queryKey, undone)
            void refresh(resource)
            toast(`Undone: ${labelsOf(names, fields)}.`, { isNews: true })
          } catch (error) {
            toastError(sayError(error))
          }
        },
      },
    })
    return after
  }
  return { save, dialogs: asked }
}

function labelsOf(names: readonly string[], fields: ShownRecord['fields']): string {
  return names
    .map(name => fields.find(({ internal_name }) => internal_name === name)?.field_name ?? name)
    .join(', ')
}
