/** Confirms an action that can't be undone. */
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'

export function Confirm(props: {
  title: string
  action: string
  variant?: 'danger' | 'primary'
  /** label of the button that cancels */
  back?: string
  onDo: () => Promise<unknown>
  onClose: () => void
  children: ReactNode
}) {
  const { title, action, variant = 'danger', back = 'Not now', onDo, onClose, children } = props
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const act = async () => {
    setBusy(true)
    try {
      await onDo()
      onClose()
    } catch (error) {
      setProblem(errorMessage(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} role="alertdialog" isOpen onClose={onClose}>
      <div className="flex flex-col gap-3">
        {children}
        <ErrorMessage text={problem} />
      </div>
      <DialogActions>
        <Cancel onPress={onClose} autoFocus>
          {back}
        </Cancel>
        <Button variant={variant} isPending={isBusy} onPress={() => void act()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
