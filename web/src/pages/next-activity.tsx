/** Asks for the next activity after one of a deal was done: a deal with nothing planned is forgotten. */
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { aboutActivity } from '../activities/about.ts'
import { PlanDialog } from '../activities/plan-dialog.tsx'
import type { AnyRecord } from '../api/api.ts'
import { pageQuery } from '../api/queries.ts'

export function NextActivity({ after, onClose }: { after: AnyRecord; onClose: () => void }) {
  const deal = typeof after.deal === 'number' ? after.deal : null
  const filter = `deal:eq(${deal}),done_at:isnull(true)`
  const request = { filter, sort: 'due_at:asc', fields: 'id' }
  const query = { ...pageQuery('activity', request, 1, 1), enabled: deal !== null, staleTime: 0 }
  const { data, isFetchedAfterMount } = useQuery(query)
  // If something is planned now, nobody is asked later, when a colleague does it.
  const isPlanned = isFetchedAfterMount && data !== undefined && data.meta.total !== 0
  useEffect(() => {
    if (isPlanned) onClose()
  }, [isPlanned, onClose])
  if (deal === null || data?.meta.total !== 0) return null
  const about = aboutActivity(after)
  return (
    <PlanDialog title="What is next?" about={about} cancel="Nothing now" onClose={onClose}>
      <p>Nothing is planned any more for this deal.</p>
    </PlanDialog>
  )
}
