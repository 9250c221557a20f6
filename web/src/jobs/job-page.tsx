/** The page of a bulk job: its progress and its result. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useFormat } from '../format/use-format.tsx'
import { isId } from '../records/record/use-record.ts'
import { NotFound } from '../shell/failed.tsx'
import { LoadError } from '../shell/load-error.tsx'
import { Skeleton } from '../ui/elements.tsx'
import { PageBody, PageHead, Panel } from '../ui/page.tsx'
import { jobQuery, titleOf } from './job.ts'
import { stateOf } from './job-text.ts'
import { JobOutcome } from './outcome.tsx'
import { RevertButton } from './result.tsx'

const route = getRouteApi('/shell/jobs/$id')

export function JobPage() {
  const { id } = route.useParams()
  return isId(id) ? <OneJob key={id} id={Number(id)} /> : <NotFound />
}

function OneJob({ id }: { id: number }) {
  const { data: job, error, refetch } = useQuery(jobQuery('bulk', id))
  const format = useFormat()
  const at = job?.begun_at ?? job?.created_at
  return (
    <main className="min-h-0 grow overflow-auto">
      <PageHead title={job ? titleOf(job) : 'Job'} detail={at && format.moment(at)} />
      <LoadError error={error} onRetry={() => void refetch()} />
      <PageBody>
        {!job && !error && <Skeleton className="h-40" />}
        {job && (
          <Panel title={stateOf(job).text} className="flex flex-col gap-4 p-4">
            <JobOutcome job={job} />
            <div className="flex flex-wrap items-center gap-3">
              <Link to="/jobs" className="linked">
                All jobs
              </Link>
              <span className="grow" />
              <RevertButton job={job} />
            </div>
          </Panel>
        )}
      </PageBody>
    </main>
  )
}
