/** The dialog for a new record, which any page can open. */
import { lazy } from 'react'
import type { AnyRecord } from '../api/api.ts'
import { createStore } from '../ui/store.ts'
import { Overlay } from './overlay.tsx'

const NewDialog = lazy(() =>
  import('../records/editing/new-dialog.tsx').then(module => ({ default: module.NewDialog })),
)

export type NewRecordRequest = {
  readonly resource: string
  /** initial values */
  readonly prefill: { readonly [field: string]: unknown }
  /** gets the created record */
  readonly onCreated?: ((record: AnyRecord) => void) | undefined
}

const request = createStore<NewRecordRequest | null>(null)

export function openNew(
  resource: string,
  prefill: NewRecordRequest['prefill'] = {},
  onCreated?: NewRecordRequest['onCreated'],
): void {
  request.set({ resource, prefill, onCreated })
}

export function NewRecord() {
  const shown = request.use()
  if (!shown) return null
  const close = () => request.set(null)
  return (
    <Overlay label="New record" onClose={close}>
      <NewDialog request={shown} onClose={close} />
    </Overlay>
  )
}
