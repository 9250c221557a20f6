/** What the pages of the settings are made of. */
import { Copy } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { ask, DealwrightError, sayAll } from '../api/api.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Select } from '../ui/inputs.tsx'
import { announce, toast } from '../ui/toast.tsx'
import { readAgain } from './saving.ts'

/** What is below the head of a page: as wide as is well read. */
export function Body({ children }: { children: ReactNode }) {
  return <div className="page-column flex flex-col gap-5 px-4 pb-12">{children}</div>
}

/** A part of a page, with a heading of its own. */
export function Panel(props: {
  title: string
  detail?: ReactNode
  actions?: ReactNode
  className?: string
  children: ReactNode
}) {
  const { title, detail, actions, className, children } = props
  const id = useId()
  return (
    <section aria-labelledby={id} className="rounded-md border border-line bg-surface">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
        <div className="min-w-0 grow">
          <h2 id={id} className="min-w-0 font-semibold" dir="auto">
            {title}
          </h2>
          {detail && <div className="text-sm text-ink-soft">{detail}</div>}
        </div>
        {actions}
      </header>
      <div className={classes('min-w-0', className)}>{children}</div>
    </section>
  )
}

/** What went wrong and belongs to no field; read out when it appears. */
export function Trouble({ text }: { text: string | undefined }) {
  return (
    <div role="alert" className="empty:hidden">
      {text && <p className="rounded-sm bg-lost-soft px-3 py-2 text-lost whitespace-pre-line">{text}</p>}
    </div>
  )
}

/** The form of a dialog, with its buttons. `onSave` closes the dialog where it went well. */
export function DialogForm(props: {
  action: string
  isBusy: boolean
  problem?: string | undefined
  onSave: () => void
  onCancel: () => void
  children: ReactNode
}) {
  const { action, isBusy, problem, onSave, onCancel, children } = props
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBusy) onSave()
  }
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      {children}
      <Trouble text={problem} />
      <DialogActions>
        <Cancel onPress={onCancel} />
        <Button type="submit" look="primary" isPending={isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  )
}

export type MoveTo = {
  readonly label: string
  readonly choices: readonly { id: number; name: string | null }[]
  /** whether it can be deleted without */
  readonly isNeeded: boolean
  /** what is said where there is no choice */
  readonly nowhere: string
}

/** `in_use`, as /docs/errors lists it. */
const inUse = 5004

/** Asks before a record is deleted, and where what belongs to it goes. */
export function DeleteDialog(props: {
  /** such as `the stage “Demo”` */
  what: string
  /** what is done to it */
  verb?: string
  path: string
  said: string
  moveTo?: MoveTo | undefined
  /** brings it back; it announces itself */
  undo?: (() => void) | undefined
  onClose: () => void
  children?: ReactNode
}) {
  const { what, verb = 'Delete', path, said, moveTo, undo, onClose, children } = props
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
      await ask('DELETE', path, { query: to ? { move_to: Number(to) } : {} })
      toast(said, undo && { action: { label: 'Undo', act: undo } })
      await readAgain()
      onClose()
    } catch (error) {
      const needsMove = moveTo && !to && error instanceof DealwrightError && error.code === inUse
      setInUse(needsMove === true)
      setProblem(needsMove ? `${sayAll(error)}\nChoose where they go.` : sayAll(error))
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
        <Trouble text={problem} />
      </div>
      <DialogActions>
        <Cancel onPress={onClose} />
        <Button
          look="danger"
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

/** A secret or a link that is shown this once, with a button that copies it. */
export function OnceDialog(props: {
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
    <Dialog title={title} isOpen onClose={onClose}>
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
          className="field-box field-sizing-content font-mono text-sm break-all"
        />
        <DialogActions>
          <Button onPress={() => void copy()}>
            <Copy size={14} aria-hidden />
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
          <Button look="primary" onPress={onClose}>
            I have it
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  )
}
