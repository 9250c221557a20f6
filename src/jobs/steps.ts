/**
 * A step of a job: a part of its phase, carried out as whoever asked for it, in one transaction with the note
 * of how far it has come. A step of a dry run is not kept; only its note is (D79).
 */
import type { Callers } from '../accounts/callers.ts'
import { oldestKept } from '../administration/background-jobs.ts'
import { Refusal } from '../errors.ts'
import { type ImportStep, importStep } from '../imports/step.ts'
import type { Context } from '../records/save.ts'
import type { Queryable, Transactional } from '../records/store.ts'
import type { Rights } from '../rights/rights.ts'
import { bulkStep } from './bulk.ts'
import type { Job, Step } from './job.ts'
import { isStillAt, noteStep } from './progress.ts'
import { revertStep } from './revert.ts'

export type JobDatabase = Queryable & Transactional

type Means = {
  readonly db: JobDatabase
  readonly callers: Callers
  readonly now: () => Date
  readonly retentionDays: number
}

/** How long a step should take: others of the account, and on the embedded engine all, wait meanwhile. */
const stepMs = 120
const [smallest, first, largest] = [10, 50, 500]

/**
 * Carries out a step of about `size` rows; 0: as many as usual. Answers the size of the next one, null where
 * there is none. Throws what the transaction throws; then nothing of the step was kept.
 */
export async function carryOutStep(
  means: Means,
  job: Job,
  holder: string,
  size: number,
): Promise<number | null> {
  const { db } = means
  const count = size || first
  const context = await contextOf(means, job)
  const asker = { account: String(job.account) }
  const begun = performance.now()
  const isTried = job.phase === 'dry_run'
  const take = (apart: ReadonlySet<number>) =>
    db.transaction(asker, async tx => {
      const step = (await isStillAt(tx, job, holder))
        ? await stepOf(tx, job, context, count, means, apart)
        : null
      const result = { step, tookMs: performance.now() - begun }
      const isKept = !isTried && !step?.inVain?.length
      if (step && isKept) await noteStep(tx, job, step, result.tookMs)
      return { isKept, result }
    })
  const apart = new Set<number>()
  let taken = await take(apart)
  // Rows that are refused leave no trace, so these are imported again, without what was made for them.
  while (!isTried && taken.step?.inVain?.length) {
    for (const place of taken.step.inVain) apart.add(place)
    taken = await take(apart)
  }
  const { step, tookMs } = taken
  if (!step) return null
  if (isTried)
    await db.transaction(asker, async tx => {
      const isKept = await isStillAt(tx, job, holder)
      if (isKept) await noteStep(tx, job, step, tookMs)
      return { isKept, result: null }
    })
  if (step.isEnd) return null
  return Math.round(Math.min(largest, Math.max(smallest, Math.min(4, stepMs / tookMs) * count)))
}

/** A step, and of an import the rows that were refused and yet made something. */
type Taken = Step & Partial<Pick<ImportStep, 'inVain'>>

function stepOf(
  tx: Queryable,
  job: Job,
  context: Context & { readonly rights: Rights },
  count: number,
  means: Means,
  apart: ReadonlySet<number>,
): Promise<Taken> {
  const oldest = oldestKept(means.now(), means.retentionDays)
  if (job.phase === 'revert') return revertStep(tx, job, context, oldest, count)
  if (job.kind === 'bulk') return bulkStep(tx, job, context, oldest, count)
  return importStep(tx, job, context, oldest, count, apart)
}

/** Who carries a phase out, with what they may do now and could when they asked. Throws `forbidden`. */
async function contextOf({ callers }: Means, job: Job): Promise<Context & { readonly rights: Rights }> {
  const acting = await callers.actingFor(job.account, job.actsAs, job.scopes)
  if (!acting) throw new Refusal('forbidden', 'Whoever began this job is no longer a user in use.')
  const { rights } = acting
  rights.need(`${job.resource}:write`)
  if (job.kind === 'import' && job.phase !== 'revert') rights.need('import:write')
  const { token, session, requestId } = job
  return {
    ...acting,
    unread: true,
    token: token === null ? null : { id: token },
    session: session === null ? null : { id: session },
    ...(requestId === null ? {} : { requestId }),
    // What takes a job back is not a part of it.
    job: job.phase === 'revert' ? null : { id: job.id },
  }
}
