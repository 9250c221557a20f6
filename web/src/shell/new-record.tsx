/** The dialog for a new record, which any page can open. */
import { lazy, Suspense } from 'react'
import type { AnyRecord } from '../api/api.ts'
import { Opening } from '../ui/bits.tsx'
import { shared } from '../ui/shared.ts'

const NewDialog = lazy(() =>
  import('../records/new-dialog.tsx').then(module => ({ default: module.NewDialog })),
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
  return (
    <Suspense fallback={<Opening label="New record" />}>
      <NewDialog asked={shown} onClose={() => asked.set(null)} />
    </Suspense>
  )
}
