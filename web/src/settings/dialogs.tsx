/** Shared dialogs of the settings: a form, a deletion, a secret that is shown once. */
import { Copy } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { allErrorMessages, callApi, DealwrightError } from '../api/api.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions, useDraftInside } from '../ui/dialog.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { SavedInputs, Select } from '../ui/inputs.tsx'
import { announce, toast } from '../ui/toast.tsx'
import { refetchAll } from './saving.ts'

/**
 * The form of a dialog, with its buttons. `onSave` closes the dialog on success. Before Escape or a press
 * outside loses a changed draft, the dialog asks.
 */
export function DialogForm(props: {
  action: string
  /** what is typed and chosen */
  draft: unknown
  isBusy: boolean
  problem?: string | undefined
  onSave: () => void
  onCancel: () => void
  children: ReactNode
}) {
  const { action, draft, isBusy, problem, onSave, onCancel, children } = props
  useDraftInside(draft)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBusy) onSave()
  }
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <SavedInputs isSaving={isBusy}>{children}</SavedInputs>
      <ErrorMessage text={problem} />
      <DialogActions>
        <Cancel onPress={onCancel} />
        <Button type="submit" variant="primary" isPending={isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  )
}

type MoveTo = {
  readonly label: string
  readonly choices: readonly { id: number; name: string | null }[]
  /** True if it is required */
  readonly isNeeded: boolean
  /** the text if there is no choice */
  readonly nowhere: string
}

/** `in_use` in /docs/errors. */
const inUse = 5004

/** Confirms the deletion of a record, and asks where its dependents move. */
export function DeleteDialog(props: {
  /** such as `the stage “Demo”` */
  what: string
  /** verb of the action */
  verb?: string
  path: string
  message: string
  moveTo?: MoveTo | undefined
  /** restores it; it announces itself */
  undo?: (() => void) | undefined
  onClose: () => void
  /** after the deletion; default: onClose */
  onDone?: () => void
  children?: ReactNode
}) {
  const { what, verb = 'Delete', path, message, moveTo, undo, onClose, onDone = onClose, children } = props
  const [to, setTo] = useState<string | null>(null)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [isInUse, setInUse] = useState(false)
  const hasNowhere = moveTo?.choices.length === 0
  const isMoveNeeded = moveTo?.isNeeded || isInUse
  const act = async () => {
    if (isMoveNeeded && !to) return setProblem('Choose where they go first.')
    setBusy(true)
    try {
      await callApi('DELETE', path, { query: to ? { move_to: Number(to) } : {} })
      toast(message, undo && { action: { label: 'Undo', act: undo } })
      await refetchAll()
      onDone()
    } catch (error) {
      const needsMove = moveTo && !to && error instanceof DealwrightError && error.code === inUse
      setInUse(needsMove === true)
      setProblem(needsMove ? `${allErrorMessages(error)}\nChoose where they go.` : allErrorMessages(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`${verb} ${what}?`} role="alertdialog" isOpen onClose={onClose}>
      <div className="flex flex-col gap-4">
        {children}
        {moveTo && !hasNowhere && (
          <Select
            key={String(isInUse)}
            autoFocus={isInUse}
            label={moveTo.label}
            isRequired={isMoveNeeded}
            value={to}
            onChange={setTo}
            none={isMoveNeeded ? 'Choose…' : 'Nowhere'}
            choices={moveTo.choices}
          />
        )}
        {hasNowhere && <p className="text-ink-soft">{moveTo.nowhere}</p>}
        <ErrorMessage text={problem} />
      </div>
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button
          variant="danger"
          reason={hasNowhere && moveTo.isNeeded ? moveTo.nowhere : undefined}
          isPending={isBusy}
          onPress={() => void act()}
        >
          {verb}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** A secret or a link that is shown only once, with a button that copies it. */
export function SecretDialog(props: {
  title: string
  label: string
  secret: string
  onClose: () => void
  children: ReactNode
}) {
  const { title, label, secret, onClose, children } = props
  const [isCopied, setCopied] = useState(false)
  const id = useId()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret)
      setCopied(true)
      announce(`${label} copied`)
    } catch {
      const box = document.getElementById(id) as HTMLTextAreaElement | null
      box?.select()
      announce('Copying was refused by the browser. The text is selected: copy it by the keyboard.')
    }
  }
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      isUnsaved={!isCopied}
      question="This is shown only now, and you have not copied it. Close without it?"
    >
      <div className="flex flex-col gap-3">
        <div className="text-ink-soft">{children}</div>
        <label htmlFor={id} className="font-medium text-ink-soft">
          {label}
        </label>
        <textarea
          id={id}
          readOnly
          rows={2}
          value={secret}
          onFocus={event => event.target.select()}
          onCopy={() => setCopied(true)}
          className="field-box field-sizing-content font-mono text-sm break-all"
        />
        <DialogActions>
          <Button onPress={() => void copy()}>
            <Copy size={14} aria-hidden />
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
          <Button variant="primary" onPress={onClose}>
            Done
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  )
}
