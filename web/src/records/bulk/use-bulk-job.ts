/** Changes all records of a filter by a job (D82): a dry run first, then the confirmation. */
import { useRef, useState } from 'react'
import { callApi, errorMessage } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { type Job, sendJobAction, storeJob } from '../../jobs/job.ts'
import { mayStartJobs, useMe } from '../../shell/me.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { useIsGone } from '../../ui/use-latest.ts'
import type { Values } from '../editing/draft.ts'
import type { BulkAction } from './run-action.ts'
import { conditionsOf, countSelected, idsMax, type Selection } from './selection.ts'

/** Up to this number, records are changed one by one, with an undo of each. */
const fewMax = 100

export function useBulkJob(resource: string) {
  const me = useMe()
  const [id, setId] = useState<number | null>(null)
  const beginning = useRef<AbortController | null>(null)
  const isGone = useIsGone()
  /** True if a job is used: the same changes to all of many matches. */
  const does = (action: BulkAction, selection: Selection, total: number): boolean =>
    mayStartJobs(me) &&
    action.type === 'change' &&
    selection.isAll &&
    selection.ids.size <= idsMax &&
    countSelected(selection, total) > fewMax
  /** False if it could not begin, or was stopped before. */
  const begin = async (changes: Values, request: ListRequest, selection: Selection): Promise<boolean> => {
    const filter = conditionsOf(selection, request.filter)
    const stop = new AbortController()
    beginning.current = stop
    const isStopped = () => stop.signal.aborted || isGone.current
    try {
      const query = { dry_run: 1 }
      const job = await callApi<Job>('POST', `/${resource}/bulk`, {
        query,
        body: { filter: filter.length ? filter : 'all', changes: { ...changes } },
      })
      storeJob(job)
      if (isStopped()) cancelTried(job)
      else setId(job.id)
      return !isStopped()
    } catch (error) {
      if (!isStopped()) toastError(errorMessage(error))
      return false
    }
  }
  /** The request itself goes on, so that its job is known and can be cancelled. */
  const stop = (): void => beginning.current?.abort()
  /** A job after its dry run is cancelled; a running one continues. */
  const close = (job: Job | undefined): void => {
    setId(null)
    if (!job) return
    const isOnlyTried = job.phase === 'dry_run' && job.state !== 'cancelled'
    if (isOnlyTried) cancelTried(job)
    else if (job.state === 'running') {
      // It may have ended already: the list of jobs is refetched.
      storeJob(job)
      toast('It continues. You find it under Jobs.', { isNews: true })
    }
  }
  return { id, does, begin, stop, close }
}

/** Cancels a job of which nobody waits for the changes. */
const cancelTried = (job: Job): void => void sendJobAction(job, 'cancel').catch(() => {})
