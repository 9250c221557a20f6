/** Asks for the name of a view, and who sees it. */
import { type FormEvent, useState } from 'react'
import { problemsByField } from '../api/api.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Checkbox, TextField } from '../ui/inputs.tsx'
import type { View } from './views.ts'

type Props = {
  /** null: a new one */
  view: View | null
  onClose: () => void
  /** throws the service's refusal */
  onSave: (name: string, isShared: boolean) => Promise<void>
}

export function ViewDialog({ view, onClose, onSave }: Props) {
  const [name, setName] = useState(view?.name ?? '')
  const [isShared, setShared] = useState(view?.is_shared === 1)
  const [problems, setProblems] = useState<{ readonly [field: string]: string }>({})
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (!name.trim()) return setProblems({ name: 'Enter a name.' })
    setBusy(true)
    try {
      await onSave(name.trim(), isShared)
    } catch (error) {
      setProblems(problemsByField(error))
      setBusy(false)
    }
  }
  const { name: ofName, ...others } = problems
  return (
    <Dialog
      title={view ? 'Rename the view' : 'Save as a view'}
      isOpen
      onClose={onClose}
      isUnsaved={name !== (view?.name ?? '') || isShared !== (view?.is_shared === 1)}
    >
      <form onSubmit={event => void submit(event)} noValidate className="flex flex-col gap-3">
        <TextField label="Name" isRequired autoFocus value={name} onChange={setName} error={ofName} />
        <Checkbox label="Everybody sees it" checked={isShared} onChange={setShared} />
        {Object.values(others).map(problem => (
          <p key={problem} role="alert" className="text-lost">
            {problem}
          </p>
        ))}
        <DialogActions>
          <Cancel onPress={onClose} />
          <Button type="submit" variant="primary" isPending={isBusy}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
