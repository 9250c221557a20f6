/** Jobs (D84): polls one while it runs, and sends it actions. */
import { queryOptions } from '@tanstack/react-query'
import { callApi, errorMessage, type Schemas } from '../api/api.ts'
import { meQuery, queryClient, refresh } from '../api/queries.ts'
import { may } from '../shell/me.ts'
import { announce, toast, toastError } from '../ui/toast.tsx'

/** The problem of a row or a record. Those of an undo name the record that was not changed. */
export type JobProblem = {
  readonly field: string | null
  readonly path?: string
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly column?: string
  readonly resource?: string
  readonly id?: number
}
/** `place`: the row of an import, the id of a record of a bulk change, the `seq` of a revert */
export type Refused = {
  readonly place: number
  /** the line of the file */
  readonly line?: number
  readonly problems: readonly JobProblem[]
}
type OfFile = 'columns' | 'mapping' | 'values' | 'defaults' | 'formats' | 'duplicates' | 'targets'
export type Job = Omit<Schemas['job'], 'problems' | OfFile> & {
  readonly problems: readonly Refused[]
  /** of an import: the columns of its file, and their mapping */
  readonly columns?: readonly { readonly name: string }[]
  readonly mapping?: readonly { readonly column: number; readonly field: string }[]
  readonly targets?: readonly { readonly field: string; readonly label: string }[]
}
export type Phase = NonNullable<Job['phase']>
export type Counts = Pick<Job, (typeof counted)[number]>
export type JobAction = 'dry_run' | 'run' | 'pause' | 'resume' | 'cancel' | 'revert'

export const counted = [
  ...['created', 'updated', 'unchanged', 'skipped', 'reverted', 'related', 'refused'],
] as readonly ('created' | 'updated' | 'unchanged' | 'skipped' | 'reverted' | 'related' | 'refused')[]

const [soonMs, againMs] = [300, 1000]
/** Running jobs → the tenths of the progress that were announced. */
const announcedTenths = new Map<number, number>()

export const jobKey = (id: number) => ['job', id] as const

/** Imports can be read and controlled with the import scope, too; other jobs need the job scopes. */
function pathOf({ kind, id }: Pick<Job, 'kind' | 'id'>): string {
  const me = queryClient.getQueryData(meQuery.queryKey)
  return kind === 'import' && me && may(me, 'import:write') ? `/import/${id}` : `/job/${id}`
}

/** A job, polled about once a second while it runs and the page is visible. */
export const jobQuery = <J extends Job = Job>(kind: Job['kind'], id: number) =>
  queryOptions({
    queryKey: jobKey(id),
    queryFn: async ({ signal }) => {
      const job = await callApi<J>('GET', pathOf({ kind, id }), { signal })
      trackJob(job)
      return job
    },
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => {
      if (data?.state !== 'running') return false
      return data.done === 0 ? soonMs : againMs
    },
  })

/**
 * Handles an update of a job from any answer: announces each tenth once. When it ends, its records are
 * refetched; if its page is not open, a toast says that it has ended.
 */
export function trackJob(job: Job): void {
  const { id, state, done, total, phase } = job
  if (state === 'running') {
    const tenth = total ? Math.floor((done * 10) / total) : 0
    if (tenth > (announcedTenths.get(id) ?? 0)) announce(`${done} of ${total}`)
    announcedTenths.set(id, tenth)
    return
  }
  if (!announcedTenths.delete(id)) return
  void queryClient.invalidateQueries({ queryKey: ['jobs'] })
  if (phase === 'dry_run') return
  void refetchChanged(job)
  const isSeen = queryClient
    .getQueryCache()
    .find({ queryKey: jobKey(id) })
    ?.isActive()
  if (isSeen) return
  if (state === 'failed') toastError(`${titleOf(job)} has failed. ${job.error ?? ''}`)
  if (state !== 'done') return
  const undo = () => void sendJobAction(job, 'revert').catch(error => toastError(errorMessage(error)))
  const isUndone = phase === 'revert'
  toast(
    `${titleOf(job)}: ${isUndone ? 'undone' : 'done'}.`,
    canRevert(job) && job.kind === 'bulk' ? { action: { label: 'Undo', act: undo } } : {},
  )
}

/** Refetches the records that a job changes; an import creates contacts and companies, too. */
function refetchChanged({ kind, resource }: Job): Promise<unknown> {
  const all = new Set(kind === 'import' ? [resource, 'contact', 'company'] : [resource])
  return Promise.all([...all].map(one => refresh(one)))
}

/** Sends an action to a job. Throws the service's refusal. */
export async function sendJobAction(job: Pick<Job, 'kind' | 'id'>, action: JobAction): Promise<Job> {
  const next = await callApi<Job>('POST', `${pathOf(job)}/${action}`)
  storeJob(next)
  return next
}

/** Stores a job that the service has just returned; older requests for it are cancelled. */
export function storeJob(job: Job): void {
  void queryClient.cancelQueries({ queryKey: jobKey(job.id) })
  queryClient.setQueryData(jobKey(job.id), job)
  trackJob(job)
  void queryClient.invalidateQueries({ queryKey: ['jobs'] })
}

/** True if a job has changes that can be undone. */
export function canRevert({ state, phase, result, created, updated, related }: Job): boolean {
  if (phase === null || phase === 'dry_run') return false
  if (phase === 'run' && created + updated + related === 0) return false
  if (phase === 'revert') return state !== 'done' && state !== 'running'
  return ['done', 'cancelled', 'failed', 'paused'].includes(state) && !('revert' in result)
}

/** The title of a job: "Import of deals: spring.csv". */
export function titleOf({ kind, resource, name }: Pick<Job, 'kind' | 'resource' | 'name'>): string {
  const many = manyOf(resource)
  if (kind === 'bulk') return `Change of ${many}`
  return name ? `Import of ${many}: ${name}` : `Import of ${many}`
}

const irregular: { readonly [resource: string]: string } = {
  company: 'companies',
  activity: 'activities',
  territory: 'territories',
}

/** deal → deals */
export const manyOf = (resource: string): string => irregular[resource] ?? `${resource}s`

/** The path of a job's page. */
export const jobPath = ({ kind, id }: Pick<Job, 'kind' | 'id'>): string =>
  kind === 'import' ? `/import/${id}` : `/jobs/${id}`
