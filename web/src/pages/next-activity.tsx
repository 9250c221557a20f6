/** Asks for the next activity after one of a deal was done: a deal with nothing planned is forgotten. */
import { useQuery } from '@tanstack/react-query'
import { aboutActivity } from '../activities/about.ts'
import { PlanDialog } from '../activities/plan-dialog.tsx'
import type { AnyRecord } from '../api/api.ts'
import { pageQuery } from '../api/queries.ts'

export function NextActivity({ after, onClose }: { after: AnyRecord; onClose: () => void }) {
  const deal = typeof after.deal === 'number' ? after.deal : null
  const filter = `deal:eq(${deal}),done_at:isnull(true)`
  const request = { filter, sort: 'due_at:asc', fields: 'id' }
  const { data } = useQuery({ ...pageQuery('activity', request, 1, 1), enabled: deal !== null, staleTime: 0 })
  if (deal === null || data?.meta.total !== 0) return null
  const about = aboutActivity(after)
  return (
    <PlanDialog title="What is next?" about={about} cancel="Nothing now" onClose={onClose}>
      <p>Nothing is planned any more for this deal.</p>
    </PlanDialog>
  )
}
