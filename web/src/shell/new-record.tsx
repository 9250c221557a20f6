/** The dialog for a new record, which any page can open. */
import { lazy, Suspense, useSyncExternalStore } from 'react'
import type { AnyRecord } from '../api/api.ts'
import { Opening } from '../ui/bits.tsx'

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

let asked: NewAsked | null = null
const listeners = new Set<() => void>()

function set(next: NewAsked | null): void {
  asked = next
  for (const listener of listeners) listener()
}

export function openNew(
  resource: string,
  prefill: NewAsked['prefill'] = {},
  onMade?: NewAsked['onMade'],
): void {
  set({ resource, prefill, onMade })
}

export function NewRecord() {
  const shown = useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => asked,
  )
  if (!shown) return null
  return (
    <Suspense fallback={<Opening label="New record" />}>
      <NewDialog asked={shown} onClose={() => set(null)} />
    </Suspense>
  )
}
