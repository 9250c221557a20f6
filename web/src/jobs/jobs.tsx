/** The jobs that the user may see: each with its title, progress and actions. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, base, errorMessage } from '../api/api.ts'
import { mayRead, usersQuery } from '../api/queries.ts'
import { useFormat } from '../format/use-format.tsx'
import { LoadError } from '../shell/load-error.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { Badge, EmptyState, Skeleton } from '../ui/elements.tsx'
import { PageHead } from '../ui/page.tsx'
import { toastError } from '../ui/toast.tsx'
import { type Job, type JobAction, jobPath, sendJobAction, titleOf } from './job.ts'
import { progressOf, stateOf } from './job-text.ts'
import { CancelJob, JobBar, useMayControl } from './progress.tsx'
import { RevertButton } from './result.tsx'

type Page = { data: Job[]; meta: { nextCursor: string | null } }

export function Jobs() {
  const me = useMe()
  return (
    <main className="min-h-0 grow overflow-auto">
      <PageHead title="Jobs" detail="Imports and changes of many records at once" />
      {may(me, 'job:read') ? (
        <JobTable />
      ) : (
        <EmptyState title="Your role may not see jobs (it lacks job:read). An administrator can change that." />
      )}
    </main>
  )
}

function JobTable() {
  const list = useInfiniteQuery({
    queryKey: ['jobs', 'all'],
    queryFn: async ({ pageParam }) => {
      const query = { pageSize: 25, ...(pageParam ? { cursor: pageParam } : {}) }
      return (await api.request('GET', `${base}/job`, { query })).body as Page
    },
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.nextCursor ?? undefined,
    staleTime: 0,
    // About one request a second: all pages that are shown are read again.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(page => page.data.some(({ state }) => state === 'running'))
        ? 1000 * data.pages.length
        : false,
  })
  const users = useQuery({ ...usersQuery, enabled: mayRead('user') })
  const nameOf = (id: number) => users.data?.find(user => user.id === id)?.name ?? `User ${id}`
  const jobs = list.data?.pages.flatMap(({ data }) => data)
  return (
    <div className="px-4 pb-12">
      <LoadError error={list.error} onRetry={() => void list.refetch()} />
      {!jobs && !list.error && <Skeleton className="h-40" />}
      {jobs?.length === 0 && (
        <EmptyState title="There are no jobs yet. Imports and changes of several records stand here, with their undo." />
      )}
      {jobs && jobs.length > 0 && (
        <table className="w-full text-left" aria-label="Jobs">
          <thead className="max-sm:hidden">
            <tr className="text-sm text-ink-soft">
              {['Job', 'By', 'State', 'Progress', 'Begun'].map(name => (
                <th key={name} scope="col" className="py-1.5 pr-4 font-medium">
                  {name}
                </th>
              ))}
              <th scope="col">
                <span className="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {jobs.map(job => (
              <JobRow key={job.id} job={job} by={nameOf(job.created_by)} />
            ))}
          </tbody>
        </table>
      )}
      {list.hasNextPage && (
        <div className="flex justify-center pt-4">
          <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
    </div>
  )
}

function JobRow({ job, by }: { job: Job; by: string }) {
  const me = useMe()
  const format = useFormat()
  const { text, look } = stateOf(job)
  const isGoing = job.state === 'running' || job.state === 'paused'
  const at = job.begun_at ?? job.created_at
  const canOpen = job.kind === 'bulk' || may(me, 'import:write')
  return (
    <tr className="border-t border-line max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-3 max-sm:py-2">
      <td className="py-1.5 pr-4 font-medium break-words max-sm:w-full" dir="auto">
        {canOpen ? (
          <Link to={jobPath(job)} className="linked">
            {titleOf(job)}
          </Link>
        ) : (
          titleOf(job)
        )}
      </td>
      <td className="py-1.5 pr-4 text-ink-soft max-sm:py-0" dir="auto">
        {by}
      </td>
      <td className="py-1.5 pr-4 max-sm:py-0">
        <div className="flex">
          <Badge variant={look}>{text}</Badge>
        </div>
      </td>
      <td className="py-1.5 pr-4 tabular text-ink-soft max-sm:py-0">
        {isGoing && <JobBar job={job} className="mr-2 w-24" />}
        {job.phase || isGoing ? progressOf(job, format) : '—'}
        {job.refused > 0 && job.phase !== 'dry_run' && (
          <span className="text-lost"> · {format.number(job.refused)} refused</span>
        )}
      </td>
      <td className="py-1.5 pr-4 whitespace-nowrap text-ink-soft max-sm:py-0">
        {at && (
          <time dateTime={at} title={format.fullMoment(at)}>
            {format.ago(at)}
          </time>
        )}
      </td>
      <td className="py-1">
        <JobActions job={job} />
      </td>
    </tr>
  )
}

function JobActions({ job }: { job: Job }) {
  const mayControl = useMayControl(job)
  if (!mayControl) return null
  const act = (action: JobAction) =>
    void sendJobAction(job, action).catch(error => toastError(errorMessage(error)))
  const button = (action: JobAction, label: string) => (
    <Button isSmall aria-label={`${label}: ${titleOf(job)}`} onPress={() => act(action)}>
      {label}
    </Button>
  )
  const { state } = job
  return (
    <div className="flex flex-wrap justify-end gap-1.5">
      {state === 'running' && button('pause', 'Pause')}
      {state === 'paused' && button('resume', 'Resume')}
      {(state === 'running' || state === 'paused' || state === 'waiting') && (
        <CancelJob job={job} isSmall aria-label={`Cancel: ${titleOf(job)}`} />
      )}
      {state !== 'paused' && <RevertButton job={job} isSmall />}
    </div>
  )
}
