/** The form of an activity that is logged or planned: it asks what that is about, and is saved once. */
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { useReadOnlyReason } from '../shell/me.ts'
import { DialogActions } from '../ui/dialog.tsx'
import { byCtrlEnter } from '../ui/keys.ts'
import { type About, mainOf } from './about.ts'
import { AboutInput } from './about-input.tsx'

/** The state of saving: `isTried` once the user has tried, `reason` if they may not. */
export function useSaveOnce() {
  const reason = useReadOnlyReason('activity')
  const [isTried, setTried] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [error, setError] = useState<string>()
  const key = useRef(crypto.randomUUID())
  /** Calls `write` with an idempotency key, unless it runs already or something `isMissing`. */
  const save = async (isMissing: boolean, write: (key: string) => Promise<void>) => {
    setTried(true)
    if (isSaving || reason || isMissing) return
    setSaving(true)
    try {
      await write(key.current)
    } catch (failed) {
      // Another request: what was refused may be changed.
      key.current = crypto.randomUUID()
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
  saving: ReturnType<typeof useSaveOnce>
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
