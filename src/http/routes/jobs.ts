/** Jobs over HTTP (D84): the list, their actions, and bulk changes (D82). */
import type { AuthenticatedCaller } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import { type Problem, problemAt, Refusal } from '../../errors.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../../json.ts'
import { beginQuery, cursorOf, throwProblems, unreadable, wholeNumber } from '../../lists/parameters.ts'
import { oncePerKey, storedResponse } from '../../records/idempotency.ts'
import { resolveNames } from '../../records/names.ts'
import { parseRecord } from '../../records/parse.ts'
import { lookUpReferences, missingReferences } from '../../records/references.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { reserveIds } from '../../records/write/protocol.ts'
import { importJson, requireAnswers, withLines } from '../../work/imports/json.ts'
import { choicesOf } from '../../work/imports/named-choices.ts'
import { nameable } from '../../work/imports/targets.ts'
import { type BulkPlan, countFound } from '../../work/jobs/bulk.ts'
import { type Job, jobJson, type Kind, type Phase, type State } from '../../work/jobs/job.ts'
import { jobFor, refusedFor } from '../../work/jobs/refused.ts'
import { countEvents, countRefused } from '../../work/jobs/revert.ts'
import {
  begin,
  insertJob,
  type JobOrigin,
  listJobs,
  move,
  type NewJob,
  problemsAfter,
  readJob,
} from '../../work/jobs/store.ts'
import type { JobWorker } from '../../work/jobs/worker.ts'
import { type Answer, okAnswer } from '../answer.ts'
import { withPaths } from '../parameters.ts'
import { type ApiRequest, bodyOf, contextOf, idOf, objectOf, schemaOf, unknownMembers } from '../request.ts'
import type { Handler } from '../route.ts'
import { isDryRun, turnOf, withoutDryRun } from './dry-run.ts'
import { inTurn } from './record-reads.ts'

export type JobService = { readonly db: Database; readonly worker: JobWorker }

/** Maximum of jobs of an account that wait, run or are paused. */
const openMax = 20
/** Maximum of problems in a job's response. */
const problemsMax = 100
const [pageSizeDefault, pageSizeMax] = [25, 100]

export const jobActions = ['dry_run', 'run', 'pause', 'resume', 'cancel', 'revert'] as const
export type JobAction = (typeof jobActions)[number]

export function jobHandlers(service: JobService) {
  const { db } = service
  return {
    list: async request => {
      const query = beginQuery(request.query, ['pageSize', 'cursor'])
      const count = wholeNumber(query, ['pageSize'], pageSizeDefault, pageSizeMax)
      const before = cursorOf(query, text => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : null))
      throwProblems(query.problems, unreadable)
      const found = await listJobs(db, accountOf(request), whose(request.caller), { before, count })
      const jobs = found.slice(0, count)
      const hasMore = found.length > count
      const meta = { pageSize: count, hasMore, nextCursor: hasMore ? String(jobs.at(-1)!.id) : null }
      return okAnswer(JSON.stringify(jobs.map(job => jobJson(jobFor(request.caller, job)))), meta)
    },
    get: async request => jobAnswer(db, request, await requireJob(db, request, null)),
    ...(Object.fromEntries(
      jobActions.map(action => [action, (request: ApiRequest) => act(service, request, action, null)]),
    ) as { readonly [action in JobAction]: Handler }),
  } satisfies { [name: string]: Handler }
}

/** POST /{resource}/bulk: the same changes to all records that a filter finds (D82). */
export function bulkHandler({ db, worker }: JobService, resource: string): Handler {
  return withPaths(async asked => {
    const isDry = isDryRun(asked.query)
    const request = withoutDryRun(asked)
    // Before all checks, as with every write (D8).
    const context = contextOf(request)
    const before = await storedResponse<Answer>(db, context)
    if (before) return before.response
    const plan = await bulkPlanOf(db, request, resource)
    const total = await countFound(workOn(inTurn(db, request), request.caller, resource), plan.filter)
    const created: Job[] = []
    const make = async (tx: Transaction) => {
      const job = await makeJob(tx, request, {
        ...{ kind: 'bulk', resource, name: null, state: 'running', phase: isDry ? 'dry_run' : 'run' },
        ...{ plan: plan as never, columns: null, total },
      })
      created.push(job)
      const location = `/rest/api/v1/job/${job.id}`
      return { commits: true, result: okAnswer(JSON.stringify(jobJson(job)), null, 201, { location }) }
    }
    const answer = await db.transaction(turnOf(request), tx => oncePerKey(tx, context, () => make(tx)))
    for (const job of created) worker.wake(job)
    return answer
  })
}

/** Creates a job. Throws `rate_limited` if the account has too many open ones. */
export async function makeJob(db: Transaction, request: ApiRequest, job: Omit<NewJob, 'key' | 'by'>) {
  const account = accountOf(request)
  const key = { account, id: await reserveIds(db, account, 'last_id', 1) }
  const inserted = await insertJob(db, { ...job, key, by: askedBy(request) }, openMax)
  if (inserted) return inserted
  const detail = `An account may have ${openMax} jobs that are not ended: end or cancel one first.`
  throw new Refusal('rate_limited', detail, [], { 'retry-after': '60' })
}

/** The author of a job's phase, with the rights for it. */
function askedBy({ caller, requestId }: ApiRequest): JobOrigin {
  const { actor, token, session, rights } = caller
  const scopes = [...rights.scopes]
  return { actsAs: actor, token: token?.id ?? null, session: session?.id ?? null, requestId, scopes }
}

/**
 * The job of the path. Throws `record_not_found` if there is none, or it is of another kind or another user;
 * that of another user is not locked either. `isLocked` as of `readJob`.
 */
export async function requireJob(
  db: Transaction,
  request: ApiRequest,
  kind: Kind | null,
  isLocked = false,
): Promise<Job> {
  const id = idOf(request)
  const job = await readJob(db, { account: accountOf(request), id }, whose(request.caller), isLocked)
  if (!job || (kind && job.kind !== kind))
    throw new Refusal('record_not_found', `There is no ${kind ?? 'job'} ${id}.`)
  return job
}

/** A job with the first problems of its phase; an import also with its mapping. */
export async function jobAnswer(
  db: Transaction,
  { caller }: ApiRequest,
  whole: Job,
  status = 200,
): Promise<Answer> {
  const job = jobFor(caller, whole)
  const isImport = job.kind === 'import'
  const stored = job.phase ? await problemsAfter(db, job, job.phase, 0, problemsMax) : []
  const refused = stored.map(refusedFor(caller, job))
  const known = nameable(caller, job.resource)
  const json = isImport
    ? importJson(job, withLines(job, refused), known, await choicesOf(db, caller, job, known))
    : jobJson(job, refused)
  const location = { location: `/rest/api/v1/${isImport ? 'import' : 'job'}/${job.id}` }
  return okAnswer(JSON.stringify(json), null, status, status === 201 ? location : {})
}

/** The states in which a job accepts an action. */
const from: { readonly [action in JobAction]: readonly State[] } = {
  dry_run: ['waiting'],
  run: ['waiting'],
  pause: ['running'],
  resume: ['paused'],
  cancel: ['waiting', 'running', 'paused'],
  revert: ['done', 'cancelled', 'failed', 'paused'],
}

/** Applies an action to a job. Throws `wrong_state` if its state doesn't allow it. */
export async function act(
  { db, worker }: JobService,
  request: ApiRequest,
  action: JobAction,
  kind: Kind | null,
): Promise<Answer> {
  const job = await requireJob(db, request, kind)
  request.caller.rights.need(`${job.resource}:write`)
  if (job.kind === 'import' && imports(job, action)) request.caller.rights.need('import:write')
  // An upload may never complete: it must not stay open for long.
  if (job.kind === 'import' && job.total === null && action !== 'cancel')
    throw wrongState(job, action, 'its file is still being read')
  if (job.kind === 'import' && from[action].includes(job.state) && (action === 'run' || action === 'dry_run'))
    requireAnswers(job, nameable(request.caller, job.resource))
  const updated = await tell(db, job, action, askedBy(request))
  if (!updated) throw wrongState((await readJob(db, job, null)) ?? job, action)
  if (updated.state === 'running') worker.wake(updated)
  return jobAnswer(db, request, updated)
}

/**
 * True if the action creates or updates records from a file, also as a dry run. Imports write creation times,
 * which takes a right of its own (D80).
 */
function imports({ phase }: Job, action: JobAction): boolean {
  return action === 'run' || action === 'dry_run' || (action === 'resume' && phase !== 'revert')
}

async function tell(db: Transaction, job: Job, action: JobAction, by: JobOrigin): Promise<Job | null> {
  const states = from[action]
  switch (action) {
    case 'dry_run':
    case 'run':
      return begin(db, job, states, action, { position: 0, total: job.total }, by)
    case 'pause':
      return move(db, job, states, 'paused')
    case 'resume':
      return move(db, job, states, 'running')
    case 'cancel':
      return move(db, job, states, 'cancelled')
    case 'revert': {
      const isBegun = job.phase === 'revert'
      if (isBegun && job.state !== 'done')
        return begin(db, job, states, 'revert', { ...job, keeps: true }, by)
      // A second revert takes the records that were refused the first time only.
      const total = await (isBegun ? countRefused(db, job) : countEvents(db, job))
      if (total === 0) throw wrongState(job, action, isBegun ? 'it was taken back' : 'it has changed nothing')
      const position = Number.MAX_SAFE_INTEGER
      return begin(db, job, states, 'revert', { position, total, keeps: isBegun }, by)
    }
  }
}

function wrongState({ id, state, phase }: Job, action: JobAction, why?: string): Refusal {
  const words: { readonly [phase in Phase]: string } = { dry_run: 'dry run', run: 'run', revert: 'revert' }
  const wentOn = from[action].includes(state) ? 'it went on meanwhile; look at it, and try again' : null
  const is = why ?? wentOn ?? `it is ${state}${phase ? ` (${words[phase]})` : ''}`
  return new Refusal('wrong_state', `The job ${id} can't ${action.replace('_', ' ')}: ${is}.`)
}

/** The filter of a bulk change for all records (D82). */
const everyRecord = 'all'

async function bulkPlanOf(db: Transaction, request: ApiRequest, resource: string): Promise<BulkPlan> {
  const detail = 'The bulk change was not begun.'
  const body = objectOf(bodyOf(request), detail)
  const { filter = null, changes = null } = body
  const problems = [
    ...unknownMembers(body, ['filter', 'changes']).listed,
    ...filterProblems(filter),
    ...(await changesProblems(db, request, resource, changes)),
  ]
  if (problems.length) throw new Refusal('validation_failed', detail, problems)
  return {
    filter: filter === everyRecord ? [] : ([filter].flat() as string[]),
    changes: changes as JsonObject,
  }
}

/** The filter is required: without one, a forgotten filter would change every record. */
function filterProblems(filter: Json): Problem[] {
  const filters = filter === null ? [] : [filter].flat()
  if (!filters.every(one => typeof one === 'string')) {
    const message = 'filter must be a text or a list of texts, as a list takes it.'
    return [problemAt('/filter', 'wrong_type', message)]
  }
  if (filters.length > 0 && filters.every(one => one.trim() !== '')) return []
  const hint = `Say which records, such as "id:in(1,2)", or "${everyRecord}" for all of them.`
  return [{ ...problemAt('/filter', 'required', 'filter must say which records are changed.'), hint }]
}

/** The problems of the changes that don't depend on the record. */
async function changesProblems(
  db: Transaction,
  request: ApiRequest,
  resource: string,
  changes: Json,
): Promise<Problem[]> {
  if (!isObject(changes))
    return [problemAt('/changes', 'required', 'changes must be an object with what is to be changed.')]
  if (Object.keys(changes).length === 0)
    return [problemAt('/changes', 'required', 'changes must have a field.')]
  const schema = schemaOf(request, resource)
  const { catalog } = request.caller
  const { problems, warnings, references } = await resolveNames(db, request.caller, names =>
    parseRecord(changes, schema, catalog, {}, names),
  )
  const { referenceState } = await lookUpReferences(db, request.caller, references, false)
  // A record may have an inactive one already, and keep it (D10).
  const missing = missingReferences(references, referenceState).filter(
    ({ code }) => code !== 'inactive_option',
  )
  // Members that the changes lack exist in each record, and so may the currency of an amount.
  const steps = new Set(Object.keys(changes).map(pointerStep))
  const own = problems.listed.filter(
    ({ path, code }) => (path === '' || steps.has(path.split('/')[1]!)) && code !== 'currency_required',
  )
  // A single write would return warnings about ignored members; a job can't, so it refuses them.
  const ignored = warnings
    .filter(({ code }) => code === 'read_only')
    .map(({ field, code, path = `/${field}` }) => ({
      ...{ field, path, code, message: `${path.slice(1)} is read-only for you: leave it out.` },
    }))
  return [...own, ...missing, ...ignored].map(problem => ({ ...problem, path: `/changes${problem.path}` }))
}

/** The user to whose jobs a caller is restricted; null: an administrator sees all of the account. */
function whose({ rights, actor }: AuthenticatedCaller): number | null {
  return rights.isAdmin ? null : actor
}

function accountOf({ caller }: ApiRequest): number {
  return caller.catalog.account.id
}
