/** The page of an import: the step of its address, or its current one. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { fieldsQuery } from '../api/queries.ts'
import { useFormat } from '../format/use-format.tsx'
import { manyOf } from '../jobs/job.ts'
import { isId } from '../records/record/use-record.ts'
import { NotFound } from '../shell/failed.tsx'
import { LoadError } from '../shell/load-error.tsx'
import { may, useMe } from '../shell/me.ts'
import { EmptyState, Skeleton } from '../ui/elements.tsx'
import { PageBody, PageHead } from '../ui/page.tsx'
import { ColumnsStep } from './columns-step.tsx'
import { DuplicatesStep } from './duplicates-step.tsx'
import { type Import, importQuery } from './import.ts'
import { RunStep, TryStep } from './run-steps.tsx'
import { type StepName, Steps, steps } from './steps.tsx'
import { ValuesStep } from './values-step.tsx'

const route = getRouteApi('/shell/import/$id')

export function ImportPage() {
  const { id } = route.useParams()
  const me = useMe()
  if (!isId(id)) return <NotFound />
  if (may(me, 'import:write')) return <OneImport key={id} id={Number(id)} />
  return (
    <main className="min-h-0 grow overflow-auto">
      <PageHead title="Import" />
      <EmptyState title="Your role may not import (it lacks import:write). An administrator can change that." />
    </main>
  )
}

function OneImport({ id }: { id: number }) {
  const { data: job, error, refetch } = useQuery(importQuery(id))
  const { step } = route.useSearch()
  const { data: sections } = useQuery({ ...fieldsQuery(job?.resource ?? ''), enabled: job !== undefined })
  const format = useFormat()
  const fields = sections?.flat()
  const rows = format.counted(job?.total ?? 0, 'row', 'rows')
  const current = job && stepOf(job, step)
  return (
    <main className="min-h-0 grow overflow-auto">
      <PageHead
        title={job ? `Import ${manyOf(job.resource)}` : 'Import'}
        detail={
          job && (
            <span dir="auto">
              {job.name} {job.phase !== 'revert' && `· ${rows}`}
            </span>
          )
        }
      />
      <LoadError error={error} onRetry={() => void refetch()} />
      <PageBody>
        {current && <Steps current={current} id={isOpen(job) ? id : undefined} />}
        {!error && (!job || !fields) && <Skeleton className="h-64" />}
        {job && fields && current === 'columns' && <ColumnsStep job={job} fields={fields} />}
        {job && fields && current === 'values' && <ValuesStep job={job} fields={fields} />}
        {job && fields && current === 'duplicates' && <DuplicatesStep job={job} fields={fields} />}
        {job && fields && current === 'try' && <TryStep job={job} fields={fields} />}
        {job && current === 'run' && <RunStep job={job} />}
        {job && job.total === null && (
          <EmptyState title="The upload was not completed.">
            <Link to="/import" search={{ resource: job.resource }} className="linked">
              Send it again
            </Link>
          </EmptyState>
        )}
      </PageBody>
    </main>
  )
}

/** True if the plan can still be changed. */
const isOpen = ({ state, total }: Import) => state === 'waiting' && total !== null

function stepOf(job: Import, requested: string | undefined): StepName {
  const { state, phase, total } = job
  if (total === null) return 'file'
  if (phase === 'dry_run' && (state === 'running' || state === 'paused')) return 'try'
  if (!isOpen(job)) return 'run'
  const found = steps.find(({ id }) => id === requested && id !== 'file' && id !== 'run')
  return found?.id ?? (phase === 'dry_run' ? 'try' : 'columns')
}
