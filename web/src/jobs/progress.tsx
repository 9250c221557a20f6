/** The progress of a job, with the buttons that pause, cancel and resume it. */
import { type ComponentProps, useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { toastError } from '../ui/toast.tsx'
import { Confirm } from './confirm.tsx'
import { type Job, type JobAction, sendJobAction } from './job.ts'
import { progressOf, stateOf } from './job-text.ts'

/** True if the user may control this job. */
export function useMayControl({ kind, resource }: Pick<Job, 'kind' | 'resource'>): boolean {
  const me = useMe()
  const mayControl = may(me, 'job:write') || (kind === 'import' && may(me, 'import:write'))
  return mayControl && may(me, `${resource}:write`)
}

export function JobBar({ job, className = 'w-full' }: { job: Job; className?: string }) {
  const format = useFormat()
  const text = progressOf(job, format)
  return (
    <progress
      aria-label={stateOf(job).text}
      aria-valuetext={text}
      max={job.total || undefined}
      value={job.total ? job.done : undefined}
      className={`h-2 ${className}`}
    />
  )
}

export function JobProgress({ job }: { job: Job }) {
  const format = useFormat()
  const mayControl = useMayControl(job)
  const me = useMe()
  const act = (action: JobAction) =>
    void sendJobAction(job, action).catch(error => toastError(errorMessage(error)))
  const { text } = stateOf(job)
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">{job.state === 'paused' ? 'Paused' : `${text}…`}</p>
      <JobBar job={job} />
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 grow tabular text-ink-soft">{progressOf(job, format)}</span>
        {mayControl && (
          <>
            {job.state === 'running' && <Button onPress={() => act('pause')}>Pause</Button>}
            {job.state === 'paused' && (
              <Button variant="primary" onPress={() => act('resume')}>
                Resume
              </Button>
            )}
            <CancelJob job={job} />
          </>
        )}
      </div>
      <p className="text-sm text-ink-faint">
        It continues if you leave this page.
        {may(me, 'job:read') && ' You find it again under Jobs in the menu of your account.'}
      </p>
    </div>
  )
}

/** Asks first: a job that was cancelled can't be resumed. `children`: another label of the button. */
export function CancelJob({
  job,
  children,
  ...button
}: { job: Job; children?: string } & ComponentProps<typeof Button>) {
  const [isAsking, setAsking] = useState(false)
  const isFile = job.kind === 'import' && job.phase === null
  const isDry = job.phase === 'dry_run'
  return (
    <>
      <Button {...button} onPress={() => setAsking(true)}>
        {children ?? 'Cancel'}
      </Button>
      {isAsking && (
        <Confirm
          title={isFile ? 'Discard the file?' : 'Cancel the job?'}
          action={isFile ? 'Discard the file' : 'Cancel the job'}
          back={isFile ? 'Keep it' : 'Keep running'}
          onDo={() => sendJobAction(job, 'cancel')}
          onClose={() => setAsking(false)}
        >
          <p>
            {isFile
              ? 'What is mapped for it is lost. Nothing has been saved of its rows.'
              : isDry
                ? 'Nothing has been saved. You can start it again later.'
                : 'Its changes so far stay until you undo them. It can’t be resumed.'}
          </p>
        </Confirm>
      )}
    </>
  )
}
