/**
 * The lease of a process on a job, and the job's progress (D84). None of these statements takes an account's
 * lock.
 */
import { askEverywhere, type Everywhere } from '../../accounts/everywhere.ts'
import type { Reader } from '../../records/store.ts'
import { ask, sql } from '../../sql.ts'
import { leaseOn } from '../../waiting/lease.ts'
import { type Job, jobOf, type Result, type Step, seenBy } from './job.ts'
import { changeJob, isIt, type JobKey, jobColumns, nowIf } from './store.ts'

/**
 * A step renews the lease at its end. A step that outlasts it is safe: it locks the row. Each start of a
 * phase ends the lease (`begin` in store.ts), so that a job is unchanged as long as its lease is held.
 */
export const lease = leaseOn({ table: 'job', alias: 'j', seconds: 3, isRow: isIt })

/**
 * Running jobs without a lease: the oldest of each account first, so that no account hides the jobs of
 * others.
 */
export async function findWork(db: Everywhere): Promise<JobKey[]> {
  const { rows } = await askEverywhere(
    db,
    isAsked => sql`SELECT j.account_id::text AS account, j.id::text AS id FROM job j
  JOIN account a ON a.account_id = j.account_id
WHERE j.state = 'running' AND ${lease.isFree} AND a.deleted_at IS NULL AND ${isAsked(sql`j.account_id`)}
  AND ${isAsked(sql`a.account_id`)}
ORDER BY row_number() OVER (PARTITION BY j.account_id ORDER BY j.begun_at, j.id), j.begun_at LIMIT 100`,
  )
  return rows.map(({ account, id }) => ({ account: Number(account), id: Number(id) }))
}

/** Claims or renews the lease of a job; null if it is not running, or another process holds it. */
export async function claim(db: Reader, key: JobKey, holder: string): Promise<Job | null> {
  const row = await lease.claim(db, key, holder, {
    where: sql`j.state = 'running'`,
    returning: jobColumns,
  })
  return row && jobOf(row)
}

/**
 * Within a transaction: locks the job until its end, so that no request changes it. False if it has moved on
 * from this place, or the lease is lost.
 */
export async function isStillAt(
  db: Reader,
  { account, id, position, phase }: Job,
  holder: string,
): Promise<boolean> {
  const statement = sql`SELECT 1 AS one FROM job j WHERE ${lease.isHeld({ account, id }, holder)}
  AND j.state = 'running' AND j.position = ${String(position)}::bigint AND j.phase = ${phase}::text FOR UPDATE`
  const rows = await ask(db, statement)
  return rows.length > 0
}

/** Records a step of a job and its duration; at the end of its phase, also the result. Renews the lease. */
export async function noteStep(db: Reader, job: Job, step: Step, tookMs: number): Promise<Job> {
  const { not_taken = {}, replaced = {}, users_out_of_use = {}, ...numbers } = step.counts
  const counts = {
    ...job.counts,
    not_taken: summed(job.counts.not_taken, not_taken),
    replaced: summed(job.counts.replaced, replaced),
    users_out_of_use: summed(job.counts.users_out_of_use, users_out_of_use),
  }
  for (const [name, count] of Object.entries(numbers)) counts[name as keyof typeof numbers] += count
  const { phase, kind } = job
  // After a dry run the job waits for the next command.
  const state = step.isEnd ? (phase === 'dry_run' ? 'waiting' : 'done') : 'running'
  const result = step.isEnd
    ? JSON.stringify({ [phase!]: { ...counts, seen_by: seenBy(job) } satisfies Result })
    : '{}'
  const noted = await changeJob(
    db,
    sql`UPDATE job j SET ${lease.renewed}, position = ${String(step.position)}::bigint, done = j.done + ${String(step.done)}::bigint,
  counts = ${JSON.stringify(counts)}::jsonb, worked_ms = j.worked_ms + ${String(Math.ceil(tookMs))}::bigint,
  result = j.result || ${result}::jsonb, state = ${state}::text,
  total = CASE WHEN ${String(step.isEnd && kind === 'bulk')}::boolean THEN j.done + ${String(step.done)}::bigint
    ELSE j.total END,
  ended_at = ${nowIf(step.isEnd)}
WHERE ${isIt(job)}`,
    sql`refused AS (
  INSERT INTO job_problem (account_id, job, phase, place, problems)
  SELECT ${String(job.account)}::bigint, ${String(job.id)}::bigint, ${phase}::text, p.place, p.problems
  FROM jsonb_to_recordset(${JSON.stringify(step.problems)}::jsonb) p (place bigint, problems jsonb)
  ON CONFLICT (account_id, job, phase, place) DO UPDATE SET problems = EXCLUDED.problems)`,
  )
  return noted!
}

type ByName = { readonly [name: string]: number }

function summed(one: ByName, other: ByName): ByName {
  const before = (name: string) => (Object.hasOwn(one, name) ? one[name]! : 0)
  const added = Object.entries(other).map(([name, count]) => [name, before(name) + count])
  return { ...one, ...Object.fromEntries(added) }
}

/** Ends a job that can't continue, with the reason. */
export async function fail(db: Reader, key: JobKey, holder: string, error: string): Promise<void> {
  const statement = sql`UPDATE job j SET state = 'failed', error = ${error}::text, ended_at = now()
WHERE ${lease.isHeld(key, holder)} AND j.state = 'running'`
  await ask(db, statement)
}
