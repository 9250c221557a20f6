/**
 * Carries out a batch that is not atomic, in steps (D78). Each step is one transaction. Between two steps
 * others take their turn: on the embedded engine all requests, on a server the account's own writes. Owns the
 * idempotency record of a step; doesn't know what a step does.
 */
import { randomUUID } from 'node:crypto'
import type { AuthenticatedCaller } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { Refusal } from '../../errors.ts'
import { type IdempotentRequest, oncePerKey } from '../../records/idempotency.ts'
import type { Transaction } from '../../records/store.ts'
import type { ApiRequest } from '../request.ts'
import { turnOf } from './dry-run.ts'
import { StepSize } from './step-size.ts'

/** Maximum of attempts of a step, each on a newer configuration. */
const attempts = 10

export type Step<Operation, Told> = {
  /** Carries operations out in a transaction, as the current caller; `before`: the results so far. */
  act(
    tx: Transaction,
    caller: AuthenticatedCaller,
    operations: readonly Operation[],
    before: readonly Told[],
  ): Promise<{ readonly commits: boolean; readonly told: Told[] }>
  /** Renders a replayed step's stored results for the current caller. */
  again(told: readonly Told[], caller: AuthenticatedCaller): Promise<Told[]>
  refused(refusal: Refusal, before: readonly Told[]): Told
}

/** The idempotency record of a step: the results since the last recorded step, and the batch's id. */
type StepRecord<Told> = { readonly told: readonly Told[]; readonly batch: string }

type Progress<Told> = {
  caller: AuthenticatedCaller
  /** all results so far, once a step is committed; none before */
  kept: Told[]
  /** results before the first committed step, all of them refusals */
  unkept: Told[]
  /** the batch's id, made with the first committed step */
  batch: string | null
  steps: number
}

/**
 * Carries out all operations and returns a result for each. With an Idempotency-Key a repeated request
 * resumes where the earlier one stopped. A refusal of the whole batch is thrown as long as nothing is
 * committed; later it becomes the result of each remaining operation.
 */
export async function carryOutInSteps<Operation, Told>(
  db: Database,
  request: ApiRequest,
  operations: readonly Operation[],
  step: Step<Operation, Told>,
): Promise<Told[]> {
  const { idempotency } = request
  const turn = turnOf(request)
  const progress: Progress<Told> = { caller: request.caller, kept: [], unkept: [], batch: null, steps: 0 }
  let isReplay = true
  const size = new StepSize()
  for (;;) {
    const before = [...progress.kept, ...progress.unkept]
    const some = operations.slice(before.length, before.length + size.next)
    if (some.length === 0) break
    const begun = performance.now()
    const key = idempotency && keyOfStep(idempotency, progress)
    const done = await retried(request, progress, () =>
      take(db, turn, progress, key, tx => step.act(tx, progress.caller, some, before)),
    )
    if (done instanceof Refusal) return withRest(before, operations.length, all => step.refused(done, all))
    const isOld = key?.isReplayed === true
    // After the first committed step each counts, also one that is refused: with a key it is recorded, and
    // the next step has its own.
    const isRecorded = isOld || done.commits || progress.batch !== null
    if (isOld) progress.kept.push(...(await step.again(done.told, progress.caller)))
    else if (isRecorded) progress.kept.push(...done.told)
    progress.unkept = isRecorded ? [] : [...done.told]
    if (isRecorded) Object.assign(progress, { batch: done.batch, steps: progress.steps + 1 })
    if (!isOld) size.follow({ count: some.length, ms: performance.now() - begun })
    isReplay &&= isOld
  }
  if (idempotency) idempotency.isReplayed = isReplay
  return [...progress.kept, ...progress.unkept]
}

type StepOutcome<Told> = StepRecord<Told> & { readonly commits: boolean }

/** One step: a transaction, unless the step is replayed. */
function take<Told>(
  db: Database,
  first: ReturnType<typeof turnOf>,
  { caller, unkept, batch, kept }: Progress<Told>,
  idempotency: IdempotentRequest | null,
  act: (tx: Transaction) => Promise<{ readonly commits: boolean; readonly told: Told[] }>,
): Promise<StepOutcome<Told>> {
  // A batch that has begun is finished even if the client has left.
  const turn = kept.length > 0 ? { account: String(caller.catalog.account.id) } : first
  return db.transaction(turn, tx =>
    oncePerKey<StepOutcome<Told>>(tx, { ...caller, idempotency }, async () => {
      const { commits, told } = await act(tx)
      // After the first committed step all are recorded: a retry repeats a refusal, too.
      return {
        commits: commits || batch !== null,
        result: { commits, told: [...unkept, ...told], batch: batch ?? randomUUID() },
      }
    }),
  )
}

/**
 * Carries out a step, the first as the caller of the request, each later one as that caller is by then. It is
 * retried on a version conflict of the configuration. Once something is committed, a refusal is returned, not
 * thrown.
 */
async function retried<Told, T>(
  request: ApiRequest,
  progress: Progress<Told>,
  act: () => Promise<T>,
): Promise<T | Refusal> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (progress.kept.length > 0) progress.caller = await request.latestCaller()
      return await act()
    } catch (error) {
      if (!(error instanceof Refusal) || progress.kept.length === 0) throw error
      if (error.slug !== 'busy_record' || attempt === attempts) return error
    }
  }
}

function withRest<Told>(told: readonly Told[], count: number, refused: (before: Told[]) => Told): Told[] {
  const all = [...told]
  while (all.length < count) all.push(refused(all))
  return all
}

/**
 * The first committed step has the request's own key. The keys of later steps have a blank, which no client's
 * key can have, and the batch's id: so they are unreachable once the first key has expired.
 */
function keyOfStep({ key, hash }: IdempotentRequest, { batch, steps }: Progress<unknown>): IdempotentRequest {
  return { key: batch === null ? key : `${key} ${batch}:${steps}`, hash, isReplayed: false }
}
