/** Takes back what a job did (D83): the undo of each of its events, the latest first. */
import { Refusal } from '../errors.ts'
import { undo } from '../events/undo.ts'
import { undoCreations } from '../events/undo-creations.ts'
import type { Context } from '../records/save.ts'
import type { Queryable } from '../records/store.ts'
import { ask, param, sql } from '../sql.ts'
import type { Job, Refused, Step } from './job.ts'
import { refusedAt } from './refused.ts'

/** So many one by one are a step: others wait for it, and it may follow one of many taken back together. */
const singlesMax = 50

/**
 * Undoes the next events of a job, up to `count`, in the transaction `tx`. What somebody changed since, or
 * needs now, stays and is named.
 */
export async function revertStep(
  tx: Queryable,
  job: Job,
  context: Context,
  oldest: Date,
  count: number,
): Promise<Step> {
  const account = param(String(job.account))
  const events = await ask(
    tx,
    sql`SELECT e.seq::text AS seq, e.type, e.resource, e.record_id::text AS id FROM event e
WHERE e.account_id = ${account}::bigint AND e.job = ${String(job.id)}::bigint
  AND e.seq < ${String(job.position)}::bigint
ORDER BY e.seq DESC LIMIT ${sql.integer(count)}`,
  )
  const problems: Refused[] = []
  let isUndone: ReadonlySet<number> = new Set()
  let [done, singles] = [0, 0]
  for (const { seq, type, resource, id } of events) {
    if (type !== events[done - 1]?.type) isUndone = await undoneTogether(tx, events.slice(done), context)
    // Those after it may be undone already where some were undone together.
    if (singles >= singlesMax && isUndone.size === 0) break
    done++
    if (isUndone.has(Number(seq))) continue
    singles++
    const refusal = await undo(tx, Number(seq), { ...context, idempotency: null }, null, oldest).then(
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
  return {
    position: Number(events[done - 1]?.seq ?? 0),
    done,
    counts: { reverted: done - problems.length, refused: problems.length },
    problems,
    isEnd: done === events.length && events.length < count,
  }
}

type Row = Readonly<Record<string, string | null>>

/** Those of the first events of one type that are undone at once. */
async function undoneTogether(
  tx: Queryable,
  events: readonly Row[],
  context: Context,
): Promise<ReadonlySet<number>> {
  const { type, resource } = events[0]!
  const fields = context.catalog.resources.get(resource!)
  if (!fields || type !== `${resource}.created`) return new Set()
  const end = events.findIndex(event => event.type !== type)
  const seqs = events.slice(0, end < 0 ? undefined : end).map(({ seq }) => Number(seq))
  return undoCreations(tx, fields, seqs, context)
}

/** How many events a job made. */
export async function countEvents(
  db: Pick<Queryable, 'query'>,
  { account, id }: Pick<Job, 'account' | 'id'>,
) {
  const [row] = await ask(
    db,
    sql`SELECT count(*)::text AS count FROM event e
WHERE e.account_id = ${String(account)}::bigint AND e.job = ${String(id)}::bigint`,
  )
  return Number(row!.count)
}
