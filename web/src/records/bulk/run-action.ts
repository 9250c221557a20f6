/**
 * Runs one action on several records, and reports the result. A change of several is a job of the service
 * (D82): it is listed under Jobs, with its undo, also after this page is closed. All else is one request
 * each.
 */
import { QueryObserver } from '@tanstack/react-query'
import { type AnyRecord, callApi, errorMessage, UserError } from '../../api/api.ts'
import { problemText } from '../../api/problem-text.ts'
import { queryClient } from '../../api/queries.ts'
import { type Job, jobQuery, sendJobAction, storeJob } from '../../jobs/job.ts'
import { update, type Values } from '../editing/draft.ts'
import { undoWrite } from '../editing/undo-write.ts'
import { remove, restore } from '../editing/write.ts'
import { inParallel } from './in-parallel.ts'
import { keepPage } from './keep-page.ts'
import { idsMax } from './selection.ts'

/** The action on each record: new values, a deletion or a restoration. */
export type BulkAction =
  | { readonly type: 'change'; readonly values: Values }
  | { readonly type: 'delete' | 'restore' }

export type Failed = { readonly item: AnyRecord; readonly reason: string }
export type Outcome = {
  readonly done: number
  /** number of refused records, of which `failed` names the first */
  readonly refused: number
  readonly failed: readonly Failed[]
  /** absent if there is nothing to undo */
  readonly undo?: () => Promise<Outcome>
}

type RunOptions = {
  readonly signal?: AbortSignal
  readonly onBegun?: () => void
  readonly onStep?: (finished: number) => void
}

/** `mayControl`: True if the caller may start and control jobs. */
export function runBulkAction(
  resource: string,
  action: BulkAction,
  records: readonly AnyRecord[],
  mayControl: boolean,
  going: RunOptions,
): Promise<Outcome> {
  const isJob = action.type === 'change' && mayControl && records.length > 1 && records.length <= idsMax
  return isJob ? byJob(resource, action.values, records, going) : oneByOne(resource, action, records, going)
}

async function byJob(
  resource: string,
  changes: Values,
  records: readonly AnyRecord[],
  going: RunOptions,
): Promise<Outcome> {
  const filter = `id:in(${records.map(({ id }) => id).join()})`
  const begun = await callApi<Job>('POST', `/${resource}/bulk`, { body: { filter, changes } })
  going.onBegun?.()
  const run = await ended(begun, going)
  const undo = async () => {
    const reverted = await ended(await sendJobAction(run, 'revert'), {})
    const { reverted: done, refused } = reverted
    return { done, refused, failed: failedOf(reverted, records) }
  }
  const { updated, unchanged, refused } = run
  const failed = failedOf(run, records)
  return { done: updated + unchanged, refused, failed, ...(updated > 0 ? { undo } : {}) }
}

/** Waits for the end of a job; aborting cancels it. */
async function ended(job: Job, { signal, onStep }: RunOptions): Promise<Job> {
  const { promise, resolve, reject } = Promise.withResolvers<Job>()
  const observer = new QueryObserver(queryClient, jobQuery('bulk', job.id))
  const stop = observer.subscribe(({ data, error }) => {
    if (error) reject(error)
    if (!data) return
    onStep?.(data.done)
    if (data.state === 'failed') reject(new UserError(data.error ?? 'This has failed.'))
    else if (data.state !== 'running') resolve(data)
  })
  const cancel = () => void sendJobAction(job, 'cancel').catch(reject)
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  storeJob(job)
  try {
    return await promise
  } finally {
    signal?.removeEventListener('abort', cancel)
    stop()
  }
}

/** The records that a job has refused, as far as it lists them. */
function failedOf({ problems, phase }: Job, records: readonly AnyRecord[]): Failed[] {
  const byId = new Map(records.map(record => [record.id, record]))
  return problems.flatMap(({ place, problems }) => {
    const item = byId.get(phase === 'revert' ? ((problems[0] as { id?: number }).id ?? place) : place)
    return item ? [{ item, reason: problems.map(problem => problemText(problem)).join(' ') }] : []
  })
}

async function oneByOne(
  resource: string,
  action: BulkAction,
  records: readonly AnyRecord[],
  going: RunOptions,
): Promise<Outcome> {
  const act = (record: AnyRecord): Promise<unknown> => {
    if (action.type === 'change') return update(resource, record, action.values, '')
    return action.type === 'delete' ? remove(resource, record) : restore(resource, record)
  }
  going.onBegun?.()
  const { done, failed } = await keepPage(inParallel(records, act, going))
  const undo = async () => {
    const undone = await keepPage(
      inParallel(done, ({ item, result }) =>
        action.type === 'change' ? undoWrite(resource, item, result as AnyRecord) : restore(resource, item),
      ),
    )
    const refused = undone.failed.map(({ item, error }) => ({ item: item.item, reason: errorMessage(error) }))
    return { done: undone.done.length, refused: refused.length, failed: refused }
  }
  return {
    done: done.length,
    refused: failed.length,
    failed: failed.map(({ item, error }) => ({ item, reason: errorMessage(error) })),
    ...(action.type === 'restore' || done.length === 0 ? {} : { undo }),
  }
}
