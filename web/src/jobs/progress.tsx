/** How far a job is, with the buttons that stop it and have it go on. */
import { useState } from 'react'
import { sayError } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { toastError } from '../ui/toast.tsx'
import { Confirm } from './confirm.tsx'
import { type Job, type JobAction, tell } from './job.ts'
import { progressOf, stateOf } from './job-words.ts'

/** Whether somebody may tell this job what to do. */
export function useMayTell({ kind, resource }: Pick<Job, 'kind' | 'resource'>): boolean {
  const me = useMe()
  const mayTell = may(me, 'job:write') || (kind === 'import' && may(me, 'import:write'))
  return mayTell && may(me, `${resource}:write`)
}

export function JobBar({ job, className = 'w-full' }: { job: Job; className?: string }) {
  const format = useFormat()
  const said = progressOf(job, format)
  return (
    <progress
      aria-label={stateOf(job).text}
      aria-valuetext={said}
      max={job.total || undefined}
      value={job.total ? job.done : undefined}
      className={`h-2 ${className}`}
    />
  )
}

export function JobProgress({ job }: { job: Job }) {
  const format = useFormat()
  const mayTell = useMayTell(job)
  const me = useMe()
  const [isAsking, setAsking] = useState(false)
  const act = (action: JobAction) => void tell(job, action).catch(error => toastError(sayError(error)))
  const isDry = job.phase === 'dry_run'
  const { text } = stateOf(job)
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{job.state === 'paused' ? 'Paused' : `${text}…`}</p>
      <JobBar job={job} />
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 grow tabular text-ink-soft">{progressOf(job, format)}</span>
        {mayTell && (
          <>
            {job.state === 'running' && <Button onPress={() => act('pause')}>Pause</Button>}
            {job.state === 'paused' && (
              <Button look="primary" onPress={() => act('resume')}>
                Go on
              </Button>
            )}
            <Button onPress={() => setAsking(true)}>Cancel</Button>
          </>
        )}
      </div>
      <p className="text-sm text-ink-faint">
        It goes on when you leave this page.
        {may(me, 'job:read') && ' You find it again under Jobs in the menu of your account.'}
      </p>
      {isAsking && (
        <Confirm
          title="Cancel this?"
          action="Cancel it"
          back="Go on with it"
          onDo={() => tell(job, 'cancel')}
          onClose={() => setAsking(false)}
        >
          <p>
            {isDry
              ? 'Nothing has been saved. To do it after all, begin anew.'
              : 'What it has done so far stays until you take it back. It can’t go on after this.'}
          </p>
        </Confirm>
      )}
    </div>
  )
}
