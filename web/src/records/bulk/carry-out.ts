/**
 * Does the same to several records, and says what came of it. A change of several is a job of the service
 * (D82): it stands under Jobs, with its undo, also when this page is long gone. All else is one request each.
 */
import { QueryObserver } from '@tanstack/react-query'
import { type AnyRecord, ask, sayError, Told } from '../../api/api.ts'
import { queryClient } from '../../api/queries.ts'
import { inWords } from '../../api/said.ts'
import { type Job, jobQuery, keep, tell } from '../../jobs/job.ts'
import { update, type Values } from '../editing/draft.ts'
import { undoWrite } from '../editing/undo-write.ts'
import { remove, restore } from '../editing/write.ts'
import { inParallel } from './in-parallel.ts'

/** What is done to each record: the values it gets, or that it goes, or comes back. */
export type Deed =
  | { readonly type: 'change'; readonly values: Values }
  | { readonly type: 'delete' | 'restore' }

export type Failed = { readonly item: AnyRecord; readonly reason: string }
export type Outcome = {
  readonly done: number
  /** how many were refused, of which `failed` names the first */
  readonly refused: number
  readonly failed: readonly Failed[]
  /** absent where there is nothing to undo */
  readonly undo?: () => Promise<Outcome>
}

export type Going = { readonly signal?: AbortSignal; readonly onStep?: (finished: number) => void }

/** A filter takes as many ids. */
const jobMax = 5000

/** `mayTell`: whether the caller may begin jobs and tell them what to do. */
export function carryOut(
  resource: string,
  deed: Deed,
  records: readonly AnyRecord[],
  mayTell: boolean,
  going: Going,
): Promise<Outcome> {
  const isJob = deed.type === 'change' && mayTell && records.length > 1 && records.length <= jobMax
  return isJob ? byJob(resource, deed.values, records, going) : oneByOne(resource, deed, records, going)
}

async function byJob(
  resource: string,
  changes: Values,
  records: readonly AnyRecord[],
  going: Going,
): Promise<Outcome> {
  const filter = `id:in(${records.map(({ id }) => id).join()})`
  const begun = await ask<Job>('POST', `/${resource}/bulk`, { body: { filter, changes } })
  const run = await ended(begun, going)
  const undo = async () => {
    const reverted = await ended(await tell(run, 'revert'), {})
    const { reverted: done, refused } = reverted
    return { done, refused, failed: failedOf(reverted, records) }
  }
  const { updated, unchanged, refused } = run
  const failed = failedOf(run, records)
  return { done: updated + unchanged, refused, failed, ...(updated > 0 ? { undo } : {}) }
}

/** Follows a job to its end; whoever stops it has it cancelled. */
async function ended(job: Job, { signal, onStep }: Going): Promise<Job> {
  const { promise, resolve, reject } = Promise.withResolvers<Job>()
  const observer = new QueryObserver(queryClient, jobQuery('bulk', job.id))
  const stop = observer.subscribe(({ data, error }) => {
    if (error) reject(error)
    if (!data) return
    onStep?.(data.done)
    if (data.state === 'failed') reject(new Told(data.error ?? 'This has failed.'))
    else if (data.state !== 'running') resolve(data)
  })
  const cancel = () => void tell(job, 'cancel').catch(reject)
  signal?.addEventListener('abort', cancel)
  if (signal?.aborted) cancel()
  keep(job)
  try {
    return await promise
  } finally {
    signal?.removeEventListener('abort', cancel)
    stop()
  }
}

/** The records that a job has refused, as far as it names them. */
function failedOf({ problems, phase }: Job, records: readonly AnyRecord[]): Failed[] {
  const byId = new Map(records.map(record => [record.id, record]))
  return problems.flatMap(({ place, problems }) => {
    const item = byId.get(phase === 'revert' ? ((problems[0] as { id?: number }).id ?? place) : place)
    return item ? [{ item, reason: problems.map(problem => inWords(problem)).join(' ') }] : []
  })
}

async function oneByOne(
  resource: string,
  deed: Deed,
  records: readonly AnyRecord[],
  going: Going,
): Promise<Outcome> {
  const act = (record: AnyRecord): Promise<unknown> => {
    if (deed.type === 'change') return update(resource, record, deed.values, '')
    return deed.type === 'delete' ? remove(resource, record) : restore(resource, record)
  }
  const { done, failed } = await inParallel(records, act, going)
  const undo = async () => {
    const undone = await inParallel(done, ({ item, result }) =>
      deed.type === 'change' ? undoWrite(resource, item, result as AnyRecord) : restore(resource, item),
    )
    const refused = undone.failed.map(({ item, error }) => ({ item: item.item, reason: sayError(error) }))
    return { done: undone.done.length, refused: refused.length, failed: refused }
  }
  return {
    done: done.length,
    refused: failed.length,
    failed: failed.map(({ item, error }) => ({ item, reason: sayError(error) })),
    ...(deed.type === 'restore' || done.length === 0 ? {} : { undo }),
  }
}
