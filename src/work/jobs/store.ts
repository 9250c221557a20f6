/**
 * Jobs in the database (D84): created, read, and controlled. None of these statements takes an account's
 * lock, except that which creates a job.
 */
import { momentAfter } from '../../fields/kinds/date-time.ts'
import { jsonInstant } from '../../fields/moment.ts'
import type { JsonObject } from '../../json.ts'
import type { Reader, Transaction } from '../../records/store.ts'
import { writeStatement } from '../../records/write/protocol.ts'
import { ask, deleteSome, param, type Sql, sql } from '../../sql.ts'
import { type Job, jobOf, type Phase, type Refused, type State } from './job.ts'

export type JobKey = { readonly account: number; readonly id: number }

const numbers = [
  ...['account_id', 'id', 'actor', 'acts_as', 'token', 'session'],
  ...['total', 'position', 'done', 'worked_ms'],
]
const texts = (names: readonly string[]) =>
  sql.join(names.map(name => sql`j.${sql.id(name)}::text AS ${sql.id(name)}`))
const instants = sql.join(
  ['created_at', 'begun_at', 'ended_at'].map(
    name => sql`${jsonInstant(sql`j.${sql.id(name)}`)} AS ${sql.id(name)}`,
  ),
)
const short = sql`${texts([...numbers, 'scopes', 'counts', 'result'])}, ${instants}, j.kind, j.resource, j.name,
  j.state, j.phase, j.request_id, j.error`
export const jobColumns = sql`${short}, ${texts(['plan', 'columns'])}`

/**
 * A statement that changes the job `j`, and returns its columns; `cte`: a change beside it, which may read
 * the changed row. The texts are made of the returned row: a distributed PostgreSQL returns none that a
 * stable function makes (D173).
 */
function changedJob(change: Sql, cte: Sql = sql.none): Sql {
  return sql`WITH ${sql.join([
    sql`j AS (${change}
RETURNING j.*)`,
    cte,
  ])}
SELECT ${jobColumns} FROM j`
}

/** Changes a job as `changedJob` says; null if there is none that the change finds. */
export async function changeJob(db: Reader, change: Sql, cte?: Sql): Promise<Job | null> {
  const [row] = await ask(db, changedJob(change, cte))
  return row ? jobOf(row) : null
}

/** Without the long columns: the texts of a file's columns, and their mapping. */
const listColumns = sql`${short}, '{}' AS plan`

/** The user who starts a phase, with credentials and scopes. */
export type JobOrigin = Pick<Job, 'actsAs' | 'token' | 'session' | 'requestId' | 'scopes'>

export type NewJob = Pick<Job, 'kind' | 'resource' | 'name' | 'state' | 'phase' | 'plan' | 'total'> & {
  readonly key: JobKey
  readonly by: JobOrigin
  readonly columns: readonly JsonObject[] | null
}

/**
 * Creates a job under an id reserved for it; null if the account has `openMax` unfinished jobs. The check is
 * atomic, so concurrent requests can't exceed the limit.
 */
export async function insertJob(db: Transaction, job: NewJob, openMax: number | null): Promise<Job | null> {
  const { key, kind, resource, name, state, phase, by, plan, columns, total } = job
  const account = param(String(key.account))
  const most = param(openMax === null ? null : String(openMax))
  const rows = await writeStatement(
    db,
    account,
    changedJob(sql`INSERT INTO job AS j (account_id, id, kind, resource, name, state, phase, actor, acts_as, token, session,
  request_id, scopes, plan, columns, total, begun_at)
SELECT ${account}::bigint, ${String(key.id)}::bigint, ${kind}::text, ${resource}::text, ${name}::text,
  ${state}::text, ${phase}::text, ${String(by.actsAs)}::bigint, ${sql.join(valuesOf(by))},
  ${JSON.stringify(plan)}::jsonb, ${columns && JSON.stringify(columns)}::jsonb,
  ${total === null ? null : String(total)}::bigint, ${nowIf(state === 'running')}::timestamptz
WHERE ${most}::bigint IS NULL OR ${most}::bigint > (SELECT count(*) FROM job x
  WHERE x.account_id = ${account}::bigint AND x.state IN ('waiting', 'running', 'paused'))`),
    true,
  )
  return rows[0] ? jobOf(rows[0]) : null
}

/** The columns acts_as, token, session, request_id and scopes. */
function valuesOf({ actsAs, token, session, requestId, scopes }: JobOrigin): Sql[] {
  const ids = [actsAs, token, session].map(id => sql`${id === null ? null : String(id)}::bigint`)
  return [...ids, sql`${requestId}::text`, sql`${JSON.stringify(scopes)}::jsonb`]
}

/**
 * A job; null if there is none, or if its user is not `actor` (null: any user). `isLocked`: other changes of
 * it wait until the transaction ends.
 */
export async function readJob(
  db: Reader,
  key: JobKey,
  actor: number | null,
  isLocked = false,
): Promise<Job | null> {
  const lock = isLocked ? sql` FOR UPDATE` : sql.none
  const where = sql`${isIt(key)} AND ${isOf(actor)}`
  const [row] = await ask(db, sql`SELECT ${jobColumns} FROM job j WHERE ${where}${lock}`)
  return row ? jobOf(row) : null
}

/**
 * The account's jobs, or this user's, without their plans and columns: the newest first, those before
 * `before`, one more than `count`.
 */
export async function listJobs(
  db: Reader,
  account: number,
  actor: number | null,
  { before, count }: { readonly before: number | null; readonly count: number },
): Promise<Job[]> {
  const statement = sql`SELECT ${listColumns} FROM job j
WHERE j.account_id = ${String(account)}::bigint AND ${isOf(actor)}
  AND (${before === null ? null : String(before)}::bigint IS NULL OR j.id < ${before === null ? null : String(before)}::bigint)
ORDER BY j.id DESC LIMIT ${sql.integer(count + 1)}`
  const rows = await ask(db, statement)
  return rows.map(jobOf)
}

/** Changes the plan of a waiting job; null if it is not waiting. */
export function changePlan(db: Reader, key: JobKey, plan: JsonObject): Promise<Job | null> {
  const change = sql`UPDATE job j SET plan = ${JSON.stringify(plan)}::jsonb
WHERE ${isIt(key)} AND j.state = 'waiting'`
  return changeJob(db, change)
}

/** Stores the content found in the file of an import, which can then begin. */
export async function noteFile(
  db: Reader,
  key: JobKey,
  { plan, columns, total }: Pick<NewJob, 'plan' | 'columns' | 'total'>,
): Promise<Job> {
  const change = sql`UPDATE job j SET plan = ${JSON.stringify(plan)}::jsonb,
  columns = ${JSON.stringify(columns)}::jsonb, total = ${String(total)}::bigint WHERE ${isIt(key)}`
  return (await changeJob(db, change))!
}

/** Rows that are removed at once: one of `import_rows` may have half a million characters. */
const removedAtOnce = { import_rows: 50, job_problem: 2000 } as const

/** Removes a job, with the rows of its file and its refusals, a part after the other. */
export async function removeJob(db: Reader, key: JobKey): Promise<void> {
  const [account, id] = [param(String(key.account)), param(String(key.id))]
  const isOf = (row: Sql) => sql`${row}.account_id = ${account}::bigint AND ${row}.job = ${id}::bigint`
  for (const [table, most] of Object.entries(removedAtOnce))
    while ((await deleteSome(db, table, most, isOf)) === most);
  await ask(db, sql`DELETE FROM job j WHERE ${isIt(key)}`)
}

/**
 * Removes expired data: files whose upload was not complete within a day, and jobs that ended before
 * `oldest`. Their events stay.
 */
export async function cleanJobs(db: Reader, account: number, oldest: Date): Promise<void> {
  const statement = sql`SELECT j.id::text AS id FROM job j WHERE j.account_id = ${String(account)}::bigint
    AND (
  j.ended_at < ${oldest.toISOString()}::timestamptz
  OR j.state IN ('waiting', 'paused') AND j.created_at < ${oldest.toISOString()}::timestamptz
  OR j.kind = 'import' AND j.total IS NULL AND j.created_at < now() - interval '1 day')`
  const rows = await ask(db, statement)
  for (const { id } of rows) await removeJob(db, { account, id: Number(id) })
}

/** Moves a job from one of these states to another; null if it is in none of them. */
export function move(db: Reader, key: JobKey, from: readonly State[], to: State): Promise<Job | null> {
  const change = sql`UPDATE job j SET state = ${to}::text,
  ended_at = ${nowIf(['done', 'failed', 'cancelled'].includes(to))}
WHERE ${isIt(key)} AND j.state = ANY(${`{${from.join()}}`}::text[])`
  return changeJob(db, change)
}

/**
 * Starts a phase of a job as `by`, from one of these states; null if it is in none of them, or was begun or
 * went on since it was read. `keeps`: the phase's counts and refusals so far remain.
 */
export function begin(
  db: Reader,
  job: JobKey & Pick<Job, 'position' | 'begunAt'>,
  from: readonly State[],
  phase: Phase,
  { position, total, done = 0, keeps = false }: Beginning,
  by: JobOrigin,
): Promise<Job | null> {
  const named = param(phase)
  return changeJob(
    db,
    sql`UPDATE job j SET state = 'running', phase = ${named}::text, position = ${String(position)}::bigint,
  done = ${String(done)}::bigint, total = ${total === null ? null : String(total)}::bigint,
  counts = ${keeps ? sql`j.counts` : sql`'{}'`},
  worked_ms = ${done > 0 ? sql`j.worked_ms` : sql`0`}, error = NULL,
  begun_at = now(), ended_at = NULL, lease = NULL, leased_until = '-infinity',
  (acts_as, token, session, request_id, scopes) = ROW(${sql.join(valuesOf(by))})
WHERE ${isIt(job)} AND j.state = ANY(${`{${from.join()}}`}::text[])
  AND j.position = ${String(job.position)}::bigint AND ${isBegunAt(job.begunAt)}`,
    keeps
      ? sql.none
      : sql`cleared AS (
  DELETE FROM job_problem p WHERE p.account_id = ${String(job.account)}::bigint
    AND p.job = ${String(job.id)}::bigint AND p.phase = ${named}::text AND EXISTS (SELECT 1 FROM j))`,
  )
}

/** The condition that a job was begun at this moment, which has milliseconds. */
function isBegunAt(begunAt: string | null): Sql {
  if (begunAt === null) return sql`j.begun_at IS NULL`
  return sql`j.begun_at >= ${begunAt}::timestamptz AND j.begun_at < ${momentAfter(begunAt)}`
}

/** The position at which a phase begins, and its total. */
type Beginning = {
  readonly position: number
  readonly total: number | null
  readonly done?: number
  readonly keeps?: boolean
}

/** The refusals of a phase, after a place, in order. */
export async function problemsAfter(
  db: Reader,
  { account, id }: JobKey,
  phase: Phase,
  place: number,
  count: number,
): Promise<Refused[]> {
  const statement = sql`SELECT p.place::text AS place, p.problems::text AS problems FROM job_problem p
WHERE p.account_id = ${String(account)}::bigint AND p.job = ${String(id)}::bigint AND p.phase = ${phase}::text
  AND p.place > ${String(place)}::bigint ORDER BY p.place LIMIT ${sql.integer(count)}`
  const rows = await ask(db, statement)
  return rows.map(row => ({ place: Number(row.place), problems: JSON.parse(row.problems!) }))
}

/** The condition that a row `j` is the job's. */
export function isIt({ account, id }: JobKey): Sql {
  return sql`j.account_id = ${String(account)}::bigint AND j.id = ${String(id)}::bigint`
}

/** SQL of the time of the transaction, or NULL. */
export function nowIf(condition: boolean): Sql {
  return condition ? sql`now()` : sql`NULL`
}

function isOf(actor: number | null): Sql {
  return actor === null ? sql`true` : sql`j.actor = ${String(actor)}::bigint`
}
