/** The state of a job: its progress while it runs, then its result. */
import { ErrorMessage } from '../ui/error-message.tsx'
import type { Counts, Job } from './job.ts'
import { JobProgress } from './progress.tsx'
import { JobCounts, Refusals } from './result.tsx'

export function JobOutcome({ job }: { job: Job }) {
  const { state, phase, error, result } = job
  if (state === 'running' || state === 'paused') return <JobProgress job={job} />
  const counts = phase && ((result[phase] as Counts | undefined) ?? job)
  return (
    <>
      {error && <ErrorMessage text={error} />}
      {phase && counts && <JobCounts job={job} phase={phase} counts={counts} />}
      {phase && <Refusals job={job} phase={phase} />}
    </>
  )
}
