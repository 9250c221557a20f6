import type { NewAsked } from '../shell/new-record.tsx'
import { Dialog } from '../ui/dialog.tsx'

export function NewDialog({ asked, onClose }: { asked: NewAsked; onClose: () => void }) {
  return (
    <Dialog title={`New ${asked.resource}`} isOpen onClose={onClose}>
      …
    </Dialog>
  )
}
