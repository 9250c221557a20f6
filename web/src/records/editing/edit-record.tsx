/** All fields of a record in a dialog, for a page that shows only some of them. */
import { useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogLoading, EmptyState } from '../../ui/elements.tsx'
import { useRecord } from '../record/use-record.ts'
import { EditDialog } from './edit-dialog.tsx'

type Props = { resource: string; id: number; onClose: () => void }

export function EditRecord({ resource, id, onClose }: Props) {
  const { shown, error, retry } = useRecord(resource, id)
  // Once open it stays, whatever becomes of the record: the service says so when it is saved.
  const [opened, setOpened] = useState(shown)
  if (shown && !opened) setOpened(shown)
  if (opened) return <EditDialog shown={opened} onClose={onClose} />
  if (!error) return <DialogLoading label="Edit all fields" />
  return (
    <Dialog title="Something went wrong" isOpen onClose={onClose}>
      <EmptyState title={errorMessage(error)}>
        <Button onPress={retry}>Try again</Button>
      </EmptyState>
    </Dialog>
  )
}
