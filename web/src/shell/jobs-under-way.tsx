/** The user's own running jobs, with their progress. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { callApi } from '../api/api.ts'
import { type Job, jobPath, titleOf, trackJob } from '../jobs/job.ts'
import { may, useMe } from './me.ts'

/** Polled about once a second while a job runs, and refetched after each action. */
export function JobsUnderWay() {
  const me = useMe()
  const { data } = useQuery({
    queryKey: ['jobs', 'newest'],
    queryFn: async ({ signal }) => {
      const jobs = await callApi<Job[]>('GET', '/job', { query: { pageSize: 10 }, signal })
      for (const job of jobs) if (job.created_by === me.user.id) trackJob(job)
      return jobs
    },
    enabled: may(me, 'job:read'),
    staleTime: 30_000,
    refetchInterval: ({ state: { data } }) => (data?.some(({ state }) => state === 'running') ? 1000 : false),
  })
  const own = data?.filter(({ state, created_by }) => state === 'running' && created_by === me.user.id) ?? []
  return own.slice(0, 3).map(job => (
    <Link
      key={job.id}
      to={jobPath(job)}
      className="flex flex-col gap-1 rounded-sm px-2.5 py-1.5 text-sm text-ink-soft hover:bg-hover hover:text-ink"
    >
      <span className="truncate" dir="auto">
        {titleOf(job)}
      </span>
      <progress
        aria-label={titleOf(job)}
        max={job.total || undefined}
        value={job.total ? job.done : undefined}
        className="h-1.5 w-full"
      />
    </Link>
  ))
}
