/** The forms that log what was done and plan what is next, which any page can open. */
import { lazy } from 'react'
import type { About } from '../activities/about.ts'
import type { LogKind } from '../activities/kinds.ts'
import type { AnyRecord } from '../api/api.ts'
import { createStore } from '../ui/store.ts'
import { Overlay } from './overlay.tsx'

const LogDialog = lazy(() =>
  import('../activities/log-dialog.tsx').then(module => ({ default: module.LogDialog })),
)
const PlanDialog = lazy(() =>
  import('../activities/plan-dialog.tsx').then(module => ({ default: module.PlanDialog })),
)

export type LogRequest = {
  readonly kind: LogKind
  /** empty: the form asks for it */
  readonly about: About
  /** a planned activity that was done */
  readonly activity?: AnyRecord
  /** what is typed already */
  readonly text?: string
  /** saves the note instead, such as one whose first request may have been carried out */
  readonly addNote?: (text: string) => Promise<void>
  readonly onLogged?: () => void
}

/** `plan`: about what the form of a next step is opened */
const opened = createStore<{ readonly log: LogRequest } | { readonly plan: About } | null>(null)

export const openLog = (kind: LogKind, about: About = {}, more: Partial<LogRequest> = {}): void =>
  opened.set({ log: { kind, about, ...more } })

export const openPlan = (about: About): void => opened.set({ plan: about })

export function LogActivity() {
  const shown = opened.use()
  const close = () => opened.set(null)
  if (!shown) return null
  if ('plan' in shown)
    return (
      <Overlay label="Plan the next step" onClose={close}>
        <PlanDialog about={shown.plan} onClose={close} />
      </Overlay>
    )
  return (
    <Overlay label="Log an activity" onClose={close}>
      <LogDialog request={shown.log} onClose={close} />
    </Overlay>
  )
}
