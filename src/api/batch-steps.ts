/**
 * A batch that is not atomic, carried out in steps (D78). Each step is one transaction, and between two steps
 * others have their turn: on the embedded engine everybody, on a server the account's own writes. Owns how
 * large a step is and what of it is kept with the request's key; does not know what a step does.
 */
import { randomUUID } from 'node:crypto'
import type { Caller } from '../accounts/callers.ts'
import { Refusal } from '../errors.ts'
import { type IdempotentRequest, onceByKey } from '../records/idempotency.ts'
import type { Queryable } from '../records/store.ts'
import { askerOf, type WrittenDatabase } from './dry-run.ts'
import type { ApiRequest } from './request.ts'

/** How long a step should take, in milliseconds: others wait meanwhile. */
const stepMs = 50
/** How many operations a step has, at least, at first and at most. */
const [smallest, first, largest] = [4, 8, 250]
/** How often a step is tried again on a newer configuration. */
const attempts = 10

export type Step<Operation, Told> = {
  /** Carries operations out in a transaction, as the caller of now, after what was told before. */
  act(
    tx: Queryable,
    caller: Caller,
    operations: readonly Operation[],
    before: readonly Told[],
  ): Promise<{ readonly isKept: boolean; readonly told: Told[] }>
  /** What was told of a step that an earlier request had carried out, as it may be told now. */
  again(told: readonly Told[], caller: Caller): Promise<Told[]>
  refused(refusal: Refusal, before: readonly Told[]): Told
}

/** What is kept with the key of a step: the outcomes since the step kept before, and the id of the batch. */
type Kept<Told> = { readonly told: readonly Told[]; readonly batch: string }

/** How far a batch has come. */
type Progress<Told> = {
  caller: Caller
  /** what is told of the operations up to the last step that was kept */
  kept: Told[]
  /** what is told of those after it, all of them refused */
  unkept: Told[]
  /** made with the first step that is kept */
  batch: string | null
  steps: number
}

/**
 * Carries out all operations and answers what is told of each. With an Idempotency-Key the same request goes
 * on where an earlier one has stopped. A refusal of the whole is thrown while nothing is kept; later it is
 * told of each operation that is left.
 */
export async function carryOutInSteps<Operation, Told>(
  db: WrittenDatabase,
  request: ApiRequest,
  operations: readonly Operation[],
  step: Step<Operation, Told>,
): Promise<Told[]> {
  const { idempotency } = request
  const asker = askerOf(request)
  const progress: Progress<Told> = { caller: request.caller, kept: [], unkept: [], batch: null, steps: 0 }
  let isReplay = true
  for (let size = first; ; ) {
    const before = [...progress.kept, ...progress.unkept]
    const some = operations.slice(before.length, before.length + size)
    if (some.length === 0) break
    const begun = performance.now()
    const key = idempotency && keyOfStep(idempotency, progress)
    const done = await retried(request, progress, () =>
      take(db, asker, progress, key, tx => step.act(tx, progress.caller, some, before)),
    )
    if (done instanceof Refusal) return withRest(before, operations.length, all => step.refused(done, all))
    const isOld = key?.isReplayed === true
    if (isOld) progress.kept.push(...(await step.again(done.told, progress.caller)))
    else if (done.isKept) progress.kept.push(...done.told)
    progress.unkept = isOld || done.isKept ? [] : [...done.told]
    if (isOld || done.isKept) Object.assign(progress, { batch: done.batch, steps: progress.steps + 1 })
    if (!isOld) size = sizeOfNext(some.length, performance.now() - begun)
    isReplay &&= isOld
  }
  if (idempotency) idempotency.isReplayed = isReplay
  return [...progress.kept, ...progress.unkept]
}

type Done<Told> = Kept<Told> & { readonly isKept: boolean }

/** One step: a transaction, unless the same step was kept before. */
function take<Told>(
  db: WrittenDatabase,
  first: ReturnType<typeof askerOf>,
  { caller, unkept, batch, kept }: Progress<Told>,
  idempotency: IdempotentRequest | null,
  act: (tx: Queryable) => Promise<{ readonly isKept: boolean; readonly told: Told[] }>,
): Promise<Done<Told>> {
  const account = String(caller.catalog.account.id)
  // What has begun is carried out, though nobody waits for it any more.
  const asker = kept.length > 0 ? { account } : first
  return db.transaction(asker, tx =>
    onceByKey<Done<Told>>(tx, { account, idempotency }, async () => {
      const { isKept, told } = await act(tx)
      // After a step that is kept all are: sent again, an operation that was refused is refused again.
      return {
        isKept: isKept || batch !== null,
        result: { isKept, told: [...unkept, ...told], batch: batch ?? randomUUID() },
      }
    }),
  )
}

/**
 * Tries a step again where the configuration has changed since the one before, as the caller of now. Once
 * something is kept, a refusal is not thrown but answered.
 */
async function retried<Told, T>(
  request: ApiRequest,
  progress: Progress<Told>,
  act: () => Promise<T>,
): Promise<T | Refusal> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof Refusal) || progress.kept.length === 0) throw error
      if (error.slug !== 'busy_record' || attempt === attempts) return error
    }
    const caller = await latestCaller(request)
    if (caller instanceof Refusal) return caller
    progress.caller = caller
  }
}

function withRest<Told>(told: readonly Told[], count: number, refused: (before: Told[]) => Told): Told[] {
  const all = [...told]
  while (all.length < count) all.push(refused(all))
  return all
}

/** The caller as the account knows them now, or why they may not go on. */
async function latestCaller(request: ApiRequest): Promise<Caller | Refusal> {
  return request.latestCaller().catch(error => {
    if (error instanceof Refusal) return error
    throw error
  })
}

/**
 * The first step that is kept has the request's own key. The keys of the others have a blank, which no key of
 * a client has, and the id of the batch: so they are of no use once the first has been forgotten.
 */
function keyOfStep({ key, hash }: IdempotentRequest, { batch, steps }: Progress<unknown>): IdempotentRequest {
  return { key: batch === null ? key : `${key} ${batch}:${steps}`, hash, isReplayed: false }
}

function sizeOfNext(count: number, tookMs: number): number {
  return Math.round(Math.min(largest, Math.max(smallest, Math.min(4, stepMs / tookMs) * count)))
}
