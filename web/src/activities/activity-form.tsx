/** The form of an activity that is logged or planned: it asks what that is about, and is saved once. */
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { type Attempt, attemptOf } from '../api/attempt.ts'
import { useReadOnlyReason } from '../shell/me.ts'
import { DialogActions } from '../ui/dialog.tsx'
import { byCtrlEnter } from '../ui/keys.ts'
import { type About, mainOf } from './about.ts'
import { AboutInput } from './about-input.tsx'

/** How a form is saved: `make` makes the request of what it says, `send` sends it. */
type Saving<Request> = {
  /** what is typed and chosen */
  readonly said: object
  readonly make: () => Request | Promise<Request>
  readonly send: (request: Request, key: string) => Promise<void>
  /** the request in place of one that was refused; null: there is none */
  readonly instead?: (request: Request, refusal: unknown) => Promise<Request | null>
}

/** The state of saving: `isTried` once the user has tried, `reason` if they may not. */
export function useSaveOnce<Request>() {
  const reason = useReadOnlyReason('activity')
  const [isTried, setTried] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [error, setError] = useState<string>()
  // Sent again after a lost answer, it must be the same request: its data may have changed by then.
  const last = useRef<(Attempt & { readonly request: Request }) | null>(null)
  const request = async ({ said, make }: Saving<Request>) => {
    const attempt = attemptOf(last.current, JSON.stringify(said))
    if (attempt !== last.current) last.current = { ...attempt, request: await make() }
    return last.current
  }
  /** Saves, unless that runs already or something `isMissing`. */
  const save = async (isMissing: boolean, saving: Saving<Request>) => {
    setTried(true)
    if (isSaving || reason || isMissing) return
    setSaving(true)
    try {
      const first = await request(saving)
      try {
        await saving.send(first.request, first.key)
      } catch (refusal) {
        const other = await saving.instead?.(first.request, refusal)
        if (!other) throw refusal
        last.current = { ...first, key: crypto.randomUUID(), request: other }
        await saving.send(other, last.current.key)
      }
    } catch (failed) {
      setError(errorMessage(failed))
      setSaving(false)
    }
  }
  return { reason, isTried, isSaving, error, save }
}

type Props = {
  /** what the form was opened about; empty: it asks for it */
  given: About
  about: About
  onAbout: (about: About) => void
  saving: { readonly isTried: boolean; readonly error: string | undefined }
  onSave: () => Promise<void>
  /** stands before what the form asks for */
  head?: ReactNode
  children: ReactNode
  actions: ReactNode
}

export function ActivityForm({ given, about, onAbout, saving, onSave, head, children, actions }: Props) {
  const { isTried, error } = saving
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    void onSave()
  }
  return (
    <form
      noValidate
      onSubmit={submit}
      onKeyDown={byCtrlEnter(() => submit())}
      className="flex flex-col gap-4"
    >
      {head}
      {mainOf(given) === null && (
        <AboutInput
          about={about}
          onAbout={onAbout}
          error={isTried && mainOf(about) === null ? 'Choose what this is about.' : undefined}
        />
      )}
      {children}
      {error && (
        <p role="alert" className="text-lost">
          {error}
        </p>
      )}
      <DialogActions>{actions}</DialogActions>
    </form>
  )
}
