/** POST /{resource}/batch (D78): many writes of one resource in one request. */
import type { AuthenticatedCaller } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { errorTable, type Problem, problemAt, type Refusal } from '../../errors.ts'
import { arrayOf, schemaRef } from '../../fields/kinds/schemas.ts'
import { type JsonObject, parseJson } from '../../json.ts'
import { oncePerKey, storedResponse } from '../../records/idempotency.ts'
import { hiddenProblem } from '../../records/rendered-record.ts'
import type { Transaction } from '../../records/store.ts'
import { type ReadWork, type Work, workOn } from '../../records/work.ts'
import { carryOutBatch } from '../../records/write/batch.ts'
import type { Operation, Outcome } from '../../records/write/operation.ts'
import { renderReplay, replayedProblem } from '../../records/write/response.ts'
import { businessData } from '../../resources/resources.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import { oldestKept } from '../../work/background/background-jobs.ts'
import type { Answer } from '../answer.ts'
import { dryRunParameter, envelope, ok } from '../openapi/operation.ts'
import { type ApiRequest, bodyOf, contextOf, schemaOf, workOf } from '../request.ts'
import { type AccountRoute, base, type Handler, type Readable, route } from '../route.ts'
import { type Batch, batchBody, batchMeta, operationsMax, readBatch } from './batch-body.ts'
import { carryOutInSteps } from './batch-steps.ts'
import { isDryRun, turnOf, withoutDryRun, withoutId, withoutIds } from './dry-run.ts'

export function batchRoute(db: Database, resource: Readable, retentionDays: number): AccountRoute {
  const handler = batchHandler(db, resource, retentionDays)
  return route('POST', `${base}/${resource}/batch`, `${resource}:write`, handler, {
    ...{ id: `${resource}_batch`, summary: `Carries out up to ${operationsMax} writes.`, tag: resource },
    description:
      'Each is judged as its own request would be, and sees the ones before. The answer has a status for each.',
    parameters: dryRunParameter,
    body: { schema: batchBody(resource) },
    responses: [ok('What became of each.', envelope(arrayOf(schemaRef('batch_item')), batchMeta, true))],
    errors: [
      ...(['validation_failed', 'record_not_found', 'duplicate', 'in_use'] as const),
      'last_administrator',
    ],
  })
}

type RefusedOutcome = { readonly refusal: Refusal }

type RefusalResult = {
  readonly status: number
  readonly type: string
  readonly title: string
  readonly detail: string
  readonly code: number
  readonly errors: readonly Problem[]
}

/** The result of an operation, in the form stored with the idempotency key (D8): not the rendered text. */
type OperationResult = Exclude<Outcome, RefusedOutcome> | { readonly refused: RefusalResult }

/** The resources with batch writes: records, no configuration, tokens, webhooks or views. */
export const batchedResources = new Set([
  ...businessData,
  ...['user', 'territory', 'tag'],
]) as ReadonlySet<Readable>

function batchHandler(db: Database, resource: string, retentionDays: number): Handler {
  return async asked => {
    const isDry = isDryRun(asked.query)
    const request = withoutDryRun(asked)
    const earlier = await storedResponse<Answer | object>(db, contextOf(request))
    const { operations, isAtomic } = readBatch(bodyOf(request), schemaOf(request, resource), earlier !== null)
    const since = oldestKept(request.now, retentionDays)
    const carryOut = (tx: Transaction, caller: AuthenticatedCaller, some: readonly Operation[]) =>
      carryOutBatch(workOf({ ...request, caller, idempotency: null }, tx, resource), some, since)
    if (isAtomic || isDry) {
      const work = workOn(db, request.caller, resource)
      return atOnce(work, request, { isDry, isAtomic, operations }, tx =>
        carryOut(tx, request.caller, operations),
      )
    }
    // The format in which earlier versions stored it.
    if (earlier && 'status' in earlier.response) return earlier.response
    const results = await carryOutInSteps<Operation, OperationResult>(db, request, operations, {
      async act(tx, caller, some, before) {
        const outcomes = await carryOut(tx, caller, some)
        return { commits: outcomes.some(one => !('refusal' in one)), told: resultsOf(outcomes, before) }
      },
      again: (results, caller) => replayedResults(workOn(db, caller, resource), results),
      refused: (refusal, before) => resultsOf([{ refusal }], before)[0]!,
    })
    return answer(request, results, false)
  }
}

/** A batch in one transaction: an atomic one, or a dry run. */
async function atOnce(
  work: Work<Database, AuthenticatedCaller>,
  request: ApiRequest,
  how: { readonly isDry: boolean } & Pick<Batch, 'isAtomic' | 'operations'>,
  carryOut: (tx: Transaction) => Promise<Outcome[]>,
): Promise<Answer> {
  const { isDry, isAtomic, operations } = how
  const act = async (tx: Transaction) => {
    const outcomes = await carryOut(tx)
    const failed = outcomes.filter(outcome => 'refusal' in outcome).length
    const commits = !isDry && !(isAtomic && failed > 0) && failed < outcomes.length
    const isRefused = isAtomic && failed > 0
    const result = isRefused ? atomicRefusal(request, operations, outcomes) : { told: resultsOf(outcomes) }
    return { commits, result }
  }
  const context = contextOf(request)
  const result = await work.db.transaction(turnOf(request), tx =>
    oncePerKey<Answer | { told: OperationResult[] }>(tx, context, () => act(tx)),
  )
  // A refusal of the whole batch, or a response stored by an earlier version.
  if (!('told' in result)) return result
  const isReplayed = context.idempotency?.isReplayed === true
  const results = isReplayed ? await replayedResults(work, result.told) : result.told
  return answer(request, results, isDry)
}

/** The results of outcomes that follow `before` in the same response. */
function resultsOf(outcomes: readonly Outcome[], before: readonly OperationResult[] = []): OperationResult[] {
  const listed = before.reduce((sum, one) => sum + ('refused' in one ? one.refused.errors.length : 0), 0)
  const refused = refusals(problemsMax - listed)
  return outcomes.map(one => ('refusal' in one ? { refused: refused(one.refusal) } : one))
}

/** Renders the stored results of a replayed batch for the current caller. */
async function replayedResults(work: ReadWork, told: readonly OperationResult[]): Promise<OperationResult[]> {
  const saved = told.flatMap(one => ('saved' in one ? one.saved : []))
  const again = (await renderReplay(work, saved)).values()
  return told.map(one => {
    if ('saved' in one) return { saved: again.next().value! }
    if ('deleted' in one) return one
    const { refused } = one
    const errors = refused.errors.map(problem => replayedProblem(work, problem) ?? hiddenProblem())
    const isTold = errors.every(({ code }) => code !== hiddenProblem().code)
    return { refused: { ...refused, errors, detail: isTold ? refused.detail : `${refused.title}.` } }
  })
}

async function answer(
  request: ApiRequest,
  results: readonly OperationResult[],
  isDry: boolean,
): Promise<Answer> {
  const made = new Set(isDry ? results.flatMap(madeBy) : [])
  const items = await mapYielding(results, one =>
    'refused' in one ? JSON.stringify(one.refused) : done(request, one, isDry ? made : null),
  )
  const failed = results.filter(one => 'refused' in one).length
  const meta = { succeeded: results.length - failed, failed, ...(isDry ? { dryRun: true } : {}) }
  return { status: 200, body: `{"code":0,"data":[${items.join()}],"meta":${JSON.stringify(meta)}}` }
}

/** The ids of the records that an operation creates. Later operations may name them. */
function madeBy(one: OperationResult): number[] {
  if (!('saved' in one)) return []
  const { id, isNew, created } = one.saved
  return [...(isNew ? [id] : []), ...created.map(({ id }) => id)]
}

/**
 * The result of an operation as JSON text: a record passes through as the database built it. `made`: the ids
 * of the records that a dry run creates, which are never assigned; null: it is none.
 */
function done(
  { caller }: ApiRequest,
  outcome: Exclude<Outcome, RefusedOutcome>,
  made: ReadonlySet<number> | null,
): string {
  if ('deleted' in outcome) {
    const id = made?.has(outcome.deleted) ? null : outcome.deleted
    return JSON.stringify({ status: 200, data: { id, deleted: true } })
  }
  const { id, record, warnings, created, isNew = false } = outcome.saved
  const data = made
    ? JSON.stringify(withoutIds(parseJson(record) as JsonObject, made, made.has(id), caller.catalog))
    : record
  const meta = {
    ...(warnings.length ? { warnings } : {}),
    ...(created.length ? { created: made ? created.map(withoutId) : created } : {}),
  }
  const metaText = Object.keys(meta).length ? `,"meta":${JSON.stringify(meta)}` : ''
  return `{"status":${isNew ? 201 : 200},"data":${data}${metaText}}`
}

/**
 * A function that renders refusals as an operation's own request would. One response lists as many problems
 * as that of a single request, not as many per operation.
 */
function refusals(most = problemsMax) {
  let left = most
  return ({ slug, message, problems }: Refusal): RefusalResult => {
    const { code, status, title } = errorTable[slug]
    const errors = problems.slice(0, left)
    left -= errors.length
    const detail = errors.length < problems.length ? `${message} Not all problems are listed.` : message
    return { status, type: `/docs/errors#${slug}`, title, detail, code, errors }
  }
}

const problemsMax = 500

/** The refusal of an atomic batch: one operation was refused, so none was carried out. */
function atomicRefusal(
  request: ApiRequest,
  operations: readonly Operation[],
  outcomes: readonly Outcome[],
): Answer {
  const refused = refusals()
  const all = outcomes.map(outcome => ('refusal' in outcome ? outcome.refusal : null))
  const first = all.find(refusal => refusal !== null)!
  const errors = all.flatMap((refusal, index) =>
    refusal ? problemsAt(refusal, operations[index]!, index) : [],
  )
  const failed = all.filter(refusal => refusal !== null).length
  const detail = `Nothing was saved: ${failed} of ${outcomes.length} operations can't be carried out.`
  const data = all.map(refusal => (refusal ? refused(refusal) : notCarriedOut))
  const { type, title, status, code } = refusals()(first)
  const body = {
    type,
    title,
    status,
    detail,
    code,
    errors: errors.slice(0, problemsMax),
    requestId: request.requestId,
    data,
  }
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify({ ...body, meta: { succeeded: 0, failed } }),
  }
}

/** Failed Dependency (RFC 4918 §11.4). */
const notCarriedOut = {
  status: 424,
  detail: 'Not saved, because another operation of the batch was refused.',
}

/** The problems of an operation, with paths from the root of the batch's body. Some have no data. */
function problemsAt({ problems, message }: Refusal, { body }: Operation, index: number): Problem[] {
  const path = `/operations/${index}`
  if (problems.length === 0) return [problemAt(path, 'not_carried_out', message)]
  return problems.map(problem => ({
    ...problem,
    path: body === null ? path : `${path}/data${problem.path}`,
  }))
}
