/** The form that logs what was done, which any page can open. */
import { lazy } from 'react'
import type { About } from '../activities/about.ts'
import type { LogKind } from '../activities/kinds.ts'
import type { AnyRecord } from '../api/api.ts'
import { createStore } from '../ui/store.ts'
import { Overlay } from './overlay.tsx'

const LogDialog = lazy(() =>
  import('../activities/log-dialog.tsx').then(module => ({ default: module.LogDialog })),
)

export type LogRequest = {
  readonly kind: LogKind
  /** empty: the form asks for it */
  readonly about: About
  /** a planned activity that was done */
  readonly activity?: AnyRecord
  readonly onLogged?: () => void
}

const request = createStore<LogRequest | null>(null)

export const openLog = (kind: LogKind, about: About = {}, more: Partial<LogRequest> = {}): void =>
  request.set({ kind, about, ...more })

export function LogActivity() {
  const shown = request.use()
  if (!shown) return null
  const close = () => request.set(null)
  return (
    <Overlay label="Log an activity" onClose={close}>
      <LogDialog request={shown} onClose={close} />
    </Overlay>
  )
}
