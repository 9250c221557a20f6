/** Changes all that a filter finds by a job of the service (D82): it is tried first, and then asked for. */
import { useState } from 'react'
import { ask, sayError } from '../../api/api.ts'
import type { ListAsked } from '../../api/queries.ts'
import { type Job, keep, tell } from '../../jobs/job.ts'
import { may, useMe } from '../../shell/me.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import type { Values } from '../editing/draft.ts'
import type { Deed } from './carry-out.ts'
import { countSelected, type Selection } from './selection.ts'

/** As many are changed one by one, with an undo of each. */
const fewMax = 100
/** As many may be left out of all that a filter finds. */
const leftOutMax = 100

export function useBulkJob(resource: string) {
  const me = useMe()
  const [id, setId] = useState<number | null>(null)
  const mayTell = may(me, 'job:read') && may(me, 'job:write')
  /** Whether a job does this: the same changes to all that a filter finds, which are many. */
  const does = (deed: Deed, selection: Selection, total: number): boolean =>
    mayTell &&
    deed.type === 'change' &&
    selection.isAll &&
    selection.ids.size <= leftOutMax &&
    countSelected(selection, total) > fewMax
  const begin = async (changes: Values, asked: ListAsked, { ids }: Selection): Promise<void> => {
    const filter = [
      ...(asked.filter ? [asked.filter] : []),
      ...(ids.size ? [`id:nin(${[...ids].join()})`] : []),
    ]
    try {
      const query = { dry_run: 1 }
      const job = await ask<Job>('POST', `/${resource}/bulk`, {
        query,
        body: { filter: filter.length ? filter : 'all', changes: { ...changes } },
      })
      keep(job)
      setId(job.id)
    } catch (error) {
      toastError(sayError(error))
    }
  }
  /** What was only tried is over; what runs goes on. */
  const close = (job: Job | undefined): void => {
    setId(null)
    if (!job) return
    const isOnlyTried = job.phase === 'dry_run' && job.state !== 'cancelled'
    if (isOnlyTried) void tell(job, 'cancel').catch(() => {})
    else if (job.state === 'running') {
      // It may have ended already: then the list of jobs, asked anew, says so.
      keep(job)
      toast('It goes on. You find it under Jobs.', { isNews: true })
    }
  }
  return { id, does, begin, close }
}
