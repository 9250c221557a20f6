/** Plans the next step for a record: a day by one press, then its kind, subject and time. */
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { useReadOnlyReason } from '../shell/me.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { byCtrlEnter } from '../ui/keys.ts'
import { type About, mainOf, subjects } from './about.ts'
import { AboutInput } from './about-input.tsx'
import { savePlanned } from './log.ts'
import { NextStep, type StepDraft, useNextStep } from './next-step.tsx'

type Props = {
  /** empty: the form asks for it */
  about: About
  title?: string
  /** text of the button that plans nothing */
  cancel?: string
  /** the chosen moment, as on a calendar */
  initial?: Partial<StepDraft> | undefined
  children?: ReactNode
  onClose: () => void
}

export function PlanDialog({ title = 'Plan the next step', ...props }: Props) {
  const detail = subjects.flatMap(subject => props.about[subject]?.name ?? []).join(' · ')
  return (
    <Dialog title={title} detail={detail || undefined} isOpen onClose={props.onClose}>
      <PlanForm {...props} />
    </Dialog>
  )
}

function PlanForm({ about: given, cancel = 'Cancel', initial, children, onClose }: Omit<Props, 'title'>) {
  const reason = useReadOnlyReason('activity')
  const [about, setAbout] = useState(given)
  const [isTried, setTried] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const [error, setError] = useState<string>()
  const key = useRef(crypto.randomUUID())
  const next = useNextStep('Call', isTried, initial)
  const hasSubject = mainOf(given) !== null
  const isChosen = mainOf(about) !== null
  const plan = async () => {
    setTried(true)
    if (isSaving || reason || !next.step || !isChosen) return
    setSaving(true)
    try {
      await savePlanned(next.step, about, key.current)
      onClose()
    } catch (failed) {
      key.current = crypto.randomUUID()
      setError(errorMessage(failed))
      setSaving(false)
    }
  }
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    void plan()
  }
  return (
    <form
      noValidate
      onSubmit={submit}
      onKeyDown={byCtrlEnter(() => submit())}
      className="flex flex-col gap-4"
    >
      {children}
      {!hasSubject && (
        <AboutInput
          about={about}
          onAbout={setAbout}
          error={isTried && !isChosen ? 'Choose what this is about.' : undefined}
        />
      )}
      <NextStep state={next} isRequired autoFocus={hasSubject} />
      {error && (
        <p role="alert" className="text-lost">
          {error}
        </p>
      )}
      <DialogActions>
        <Cancel onPress={onClose}>{cancel}</Cancel>
        <Button
          type="submit"
          variant="primary"
          reason={reason}
          isDisabled={next.step === null}
          isPending={isSaving}
        >
          Plan it
        </Button>
      </DialogActions>
    </form>
  )
}
