/**
 * A step of a job: a part of its phase, executed with the rights of its user, in one transaction with the
 * record of its progress. A step of a dry run is rolled back; only its progress is stored (D79).
 */
import { isDeleted } from '../../accounts/accounts.ts'
import type { Callers } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import { workOn } from '../../records/work.ts'
import { oldestKept } from '../background/background-jobs.ts'
import { type ImportStep, importStep } from '../imports/step.ts'
import { bulkStep } from './bulk.ts'
import type { Job, Step, StepWork } from './job.ts'
import { isStillAt, noteStep } from './progress.ts'
import { revertStep } from './revert.ts'

export type Means = {
  readonly db: Database
  readonly callers: Callers
  readonly now: () => Date
  /** retention of deleted records, in which they can be restored */
  readonly retentionDays: number
}

/** Target duration of a step: others of the account, and on the embedded engine all, wait meanwhile. */
const stepMs = 120
const [smallest, first, largest] = [10, 50, 500]

/** The next step of a job, and its size in rows; null: the default size. */
export type NextStep = { readonly job: Job; readonly size: number | null }

/**
 * Executes a step. Returns the next one; null if there is none, or the process no longer holds the job.
 * Throws the transaction's errors; then the step is rolled back.
 */
export async function carryOutStep(
  means: Means,
  { job, size }: NextStep,
  holder: string,
): Promise<NextStep | null> {
  const { db } = means
  const oldest = oldestKept(means.now(), means.retentionDays)
  const count = size ?? first
  const context = await contextOf(means, job)
  if (!context) return null
  const turn = { account: String(job.account), isJob: true } as const
  const begun = performance.now()
  const isTried = job.phase === 'dry_run'
  const take = (individually: ReadonlySet<number>) =>
    db.transaction(turn, async tx => {
      // Without the wait for the account's turn, which a smaller step does not shorten.
      const started = performance.now()
      const work = { ...workOn(tx, context, job.resource), job, oldest, count }
      const act = () => stepOf(work, individually)
      const isHere = await isStillAt(tx, job, holder)
      const step = isHere ? await (isTried ? tx.dryRun(act) : act()) : null
      const ended = performance.now()
      const commits = isTried || !step?.retryIndividually?.length
      const noted = step && commits ? await noteStep(tx, job, step, ended - begun) : null
      return { commits, result: { step, noted, workedMs: ended - started } }
    })
  const individually = new Set<number>()
  let taken = await take(individually)
  // Refused rows leave no trace, so the rows are imported again, without the records created for those.
  while (!isTried && taken.step?.retryIndividually?.length) {
    for (const place of taken.step.retryIndividually) individually.add(place)
    taken = await take(individually)
  }
  const { noted, workedMs } = taken
  if (noted?.state !== 'running') return null
  const inTime = Math.min(4, stepMs / workedMs) * count
  return { job: noted, size: Math.round(Math.min(largest, Math.max(smallest, inTime))) }
}

/** A step; for an import, also the refused rows for which records were created nonetheless. */
type Taken = Step & Partial<Pick<ImportStep, 'retryIndividually'>>

function stepOf(work: StepWork, individually: ReadonlySet<number>): Promise<Taken> {
  if (work.job.phase === 'revert') return revertStep(work)
  return work.job.kind === 'bulk' ? bulkStep(work) : importStep(work, individually)
}

/**
 * The user of a phase, with the rights that they have now and had at its start; null while the account is
 * deleted. Throws `forbidden`.
 */
async function contextOf({ db, callers }: Means, job: Job): Promise<StepWork['context'] | null> {
  const acting = await callers.actingFor(job.account, job.actsAs, job.scopes)
  if (!acting && (await isDeleted(db, job.account))) return null
  if (!acting) throw new Refusal('forbidden', 'Whoever began this job is no longer a user in use.')
  const { rights } = acting
  rights.need(`${job.resource}:write`)
  if (job.kind === 'import' && job.phase !== 'revert') rights.need('import:write')
  const { token, session, requestId } = job
  return {
    ...acting,
    skipsRendering: true,
    token: token === null ? null : { id: token },
    session: session === null ? null : { id: session },
    ...(requestId === null ? {} : { requestId }),
    // A revert is not part of the job that it reverts.
    job: job.phase === 'revert' ? null : { id: job.id },
  }
}
