/** The dialog for a new record, which any page can open. */
import { lazy } from 'react'
import type { AnyRecord } from '../api/api.ts'
import { shared } from '../ui/shared.ts'
import { Opened } from './opened.tsx'

const NewDialog = lazy(() =>
  import('../records/editing/new-dialog.tsx').then(module => ({ default: module.NewDialog })),
)

export type NewAsked = {
  readonly resource: string
  /** what is filled in already */
  readonly prefill: { readonly [field: string]: unknown }
  /** hears of the record that was made */
  readonly onMade?: ((record: AnyRecord) => void) | undefined
}

const asked = shared<NewAsked | null>(null)

export function openNew(
  resource: string,
  prefill: NewAsked['prefill'] = {},
  onMade?: NewAsked['onMade'],
): void {
  asked.set({ resource, prefill, onMade })
}

export function NewRecord() {
  const shown = asked.use()
  if (!shown) return null
  const close = () => asked.set(null)
  return (
    <Opened label="New record" onClose={close}>
      <NewDialog asked={shown} onClose={close} />
    </Opened>
  )
}
