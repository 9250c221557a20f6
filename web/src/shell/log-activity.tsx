/** The forms that log what was done and plan what is next, which any page can open. */
import { lazy } from 'react'
import type { About } from '../activities/about.ts'
import type { LogKind } from '../activities/kinds.ts'
import type { StepDraft } from '../activities/next-step.tsx'
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
  readonly onLogged?: () => void
}

const request = createStore<LogRequest | null>(null)

export const openLog = (kind: LogKind, about: About = {}, more: Partial<LogRequest> = {}): void =>
  request.set({ kind, about, ...more })

type PlanRequest = { readonly about: About; readonly initial?: Partial<StepDraft> | undefined }
const planned = createStore<PlanRequest | null>(null)

/** `initial` is the moment that is chosen already, as on a calendar. */
export const openPlan = (about: About, initial?: Partial<StepDraft>): void => planned.set({ about, initial })

export function LogActivity() {
  const shown = request.use()
  const plan = planned.use()
  const close = () => {
    request.set(null)
    planned.set(null)
  }
  if (plan)
    return (
      <Overlay label="Plan the next step" onClose={close}>
        <PlanDialog about={plan.about} initial={plan.initial} onClose={close} />
      </Overlay>
    )
  if (!shown) return null
  return (
    <Overlay label="Log an activity" onClose={close}>
      <LogDialog request={shown} onClose={close} />
    </Overlay>
  )
}
