/** Reverts a job (D83): the undo of each of its events, the latest first. */
import { Refusal } from '../../errors.ts'
import { undo } from '../../history/undo.ts'
import { undoCreations } from '../../history/undo-creations.ts'
import type { Reader } from '../../records/store.ts'
import { ask, type Sql, sql } from '../../sql.ts'
import type { Job, Refused, Step, StepWork } from './job.ts'
import { refusedAt } from './refused.ts'

/** Maximum number of individual undos in a step: others wait for it, and it may include one bulk undo. */
const singlesMax = 50

/**
 * Undoes the next events of a job. A record that was changed since, or is needed now, stays and is reported.
 */
export async function revertStep(work: StepWork): Promise<Step> {
  const { db, context, job, oldest, count } = work
  const isAgain = job.result.revert !== undefined
  const events = await nextEvents(work, isAgain)
  const problems: Refused[] = []
  let isUndone: ReadonlySet<number> = new Set()
  let [done, singles] = [0, 0]
  for (const { seq, type, resource, id } of events) {
    if (type !== events[done - 1]?.type) isUndone = await undoneTogether(work, events.slice(done))
    // Later events may already be undone as part of a bulk undo.
    if (singles >= singlesMax && isUndone.size === 0) break
    done++
    if (isUndone.has(Number(seq))) continue
    singles++
    const refusal = await undo(db, Number(seq), { ...context, idempotency: null }, null, oldest).then(
      () => null,
      error => {
        if (error instanceof Refusal && error.slug !== 'busy_record') return error
        throw error
      },
    )
    if (!refusal) continue
    const about = { resource: resource!, id: Number(id) }
    problems.push(refusedAt(Number(seq), refusal, () => about))
  }
  const reverted = done - problems.length
  if (isAgain) await forget(work, events.slice(0, done), problems)
  return {
    position: Number(events[done - 1]?.seq ?? 0),
    done,
    counts: { reverted, refused: isAgain ? -reverted : problems.length },
    problems,
    isEnd: done === events.length && events.length < count,
  }
}

type Row = Readonly<Record<string, string | null>>

/** The condition that a row `p` is a refusal of the job's revert. */
function isRefused({ account, id }: Pick<Job, 'account' | 'id'>): Sql {
  return sql`p.account_id = ${String(account)}::bigint AND p.job = ${String(id)}::bigint AND p.phase = 'revert'`
}

/** The next events of a job; `isAgain`: those that an earlier revert refused. */
async function nextEvents({ db, job, count }: StepWork, isAgain: boolean): Promise<readonly Row[]> {
  const { account, id, position } = job
  const which = sql` AND e.seq IN (SELECT p.place FROM job_problem p WHERE ${isRefused(job)})`
  const statement = sql`SELECT e.seq::text AS seq, e.type, e.resource, e.record_id::text AS id FROM event e
WHERE e.account_id = ${String(account)}::bigint AND e.job = ${String(id)}::bigint
  AND e.seq < ${String(position)}::bigint${isAgain ? which : sql.none}
ORDER BY e.seq DESC LIMIT ${sql.integer(count)}`
  return ask(db, statement)
}

/** Deletes former refusals of events that are reverted now. */
async function forget({ db, job }: StepWork, events: readonly Row[], problems: readonly Refused[]) {
  const still = new Set(problems.map(({ place }) => place))
  const all = events.map(({ seq }) => Number(seq)).filter(seq => !still.has(seq))
  const statement = sql`DELETE FROM job_problem p WHERE ${isRefused(job)}
    AND p.place = ANY(${`{${all.join()}}`}::bigint[])`
  await ask(db, statement)
}

export async function countRefused(db: Reader, job: Pick<Job, 'account' | 'id'>): Promise<number> {
  const [row] = await ask(db, sql`SELECT count(*)::text AS count FROM job_problem p WHERE ${isRefused(job)}`)
  return Number(row!.count)
}

/** Those of the first events of one type that are undone at once. */
async function undoneTogether(work: StepWork, events: readonly Row[]): Promise<ReadonlySet<number>> {
  const { type, resource } = events[0]!
  const schema = work.context.catalog.resources.get(resource!)
  if (!schema || type !== `${resource}.created`) return new Set()
  const end = events.findIndex(event => event.type !== type)
  const seqs = events.slice(0, end < 0 ? undefined : end).map(({ seq }) => Number(seq))
  return undoCreations({ ...work, schema }, seqs)
}

export async function countEvents(db: Reader, { account, id }: Pick<Job, 'account' | 'id'>): Promise<number> {
  const statement = sql`SELECT count(*)::text AS count FROM event e
WHERE e.account_id = ${String(account)}::bigint AND e.job = ${String(id)}::bigint`
  const [row] = await ask(db, statement)
  return Number(row!.count)
}
