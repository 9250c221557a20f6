/** One's own jobs that run, with their progress; and the commands that lead to imports and jobs. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ask } from '../api/api.ts'
import { importable } from '../imports/import.ts'
import { type Job, jobPath, manyOf, note, titleOf } from '../jobs/job.ts'
import { useCommands } from './commands.ts'
import { may, useMe } from './me.ts'

/** Asked again about once a second while one runs; whoever begins or tells a job has it asked again, too. */
export function JobsUnderWay() {
  const me = useMe()
  useJobCommands()
  const { data } = useQuery({
    queryKey: ['jobs', 'newest'],
    queryFn: async ({ signal }) => {
      const jobs = await ask<Job[]>('GET', '/job', { query: { pageSize: 10 }, signal })
      for (const job of jobs) if (job.created_by === me.user.id) note(job)
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

function useJobCommands(): void {
  const me = useMe()
  const navigate = useNavigate()
  const commands = useMemo(
    () => [
      ...(may(me, 'import:write') ? importable.filter(one => may(me, `${one}:write`)) : []).map(resource => ({
        id: `import ${resource}`,
        title: `Import ${manyOf(resource)}`,
        group: 'Import',
        act: () => void navigate({ to: '/import', search: { resource } }),
      })),
      ...(may(me, 'job:read')
        ? [{ id: 'jobs', title: 'Go to Jobs', group: 'Go to', act: () => void navigate({ to: '/jobs' }) }]
        : []),
    ],
    [me, navigate],
  )
  useCommands(commands)
}
