/** Asks for the next activity after one of a deal was done: a deal with nothing planned is forgotten. */
import { useQuery } from '@tanstack/react-query'
import type { AnyRecord } from '../api/api.ts'
import { pageQuery } from '../api/queries.ts'
import { namesOf } from '../records/record/use-record.ts'
import { openNew } from '../shell/new-record.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'

export function NextActivity({ after, onClose }: { after: AnyRecord; onClose: () => void }) {
  const deal = typeof after.deal === 'number' ? after.deal : null
  const filter = `deal:eq(${deal}),done_at:isnull(true)`
  const request = { filter, sort: 'due_at:asc', fields: 'id' }
  const { data } = useQuery({ ...pageQuery('activity', request, 1, 1), enabled: deal !== null, staleTime: 0 })
  if (deal === null || data?.meta.total !== 0) return null
  const named = namesOf(after).deal as { name?: string | null } | null | undefined
  const plan = () => {
    onClose()
    // After this dialog has closed, so that the next one gets the focus.
    setTimeout(() =>
      openNew('activity', { deal, ...(typeof after.owner === 'number' ? { owner: after.owner } : {}) }),
    )
  }
  return (
    <Dialog title="What is next?" isOpen onClose={onClose}>
      <p>
        Nothing is planned any more for <bdi className="font-medium">{named?.name ?? `deal ${deal}`}</bdi>.
      </p>
      <DialogActions>
        <Button variant="quiet" onPress={onClose}>
          Nothing now
        </Button>
        <Button variant="primary" autoFocus onPress={plan}>
          Plan an activity
        </Button>
      </DialogActions>
    </Dialog>
  )
}
