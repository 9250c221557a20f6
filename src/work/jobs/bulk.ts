/** Bulk change: the same change to all records that a filter finds (D82), in the order of their ids. */
import type { Json, JsonObject } from '../../json.ts'
import { requireReadScopes } from '../../lists/plan.ts'
import { readListQuery } from '../../lists/query.ts'
import { whereSql } from '../../lists/where.ts'
import { resolveNames } from '../../records/names.ts'
import { type Reader, tableOf } from '../../records/store.ts'
import type { Work } from '../../records/work.ts'
import { carryOutLocked } from '../../records/write/batch.ts'
import { lockLatest } from '../../records/write/protocol.ts'
import { type AuthorizedCaller, callerParamsOf } from '../../rights/visibility.ts'
import { ask, type Sql, sql } from '../../sql.ts'
import type { Step, StepWork } from './job.ts'
import { refusedAt } from './refused.ts'

/** The plan of a bulk change: the filters, as in a list, and the body of the change. */
export type BulkPlan = { readonly filter: readonly string[]; readonly changes: JsonObject }

type FilterWork = Work<Reader, AuthorizedCaller>

/**
 * Changes the next records, which the filter finds under the account's lock: it finds each as it is changed.
 * A refused record stays unchanged, and is reported. Throws as `countFound` and `lockLatest` do.
 */
export async function bulkStep(work: StepWork): Promise<Step> {
  const { db, schema, job, oldest, count } = work
  const { filter, changes } = job.plan as unknown as BulkPlan
  await lockLatest(db, work.context)
  const where = await found(work, filter)
  const statement = sql`SELECT r.id::text AS id FROM ${tableOf(schema)} r
WHERE ${where} AND r.id > ${String(job.position)}::bigint ORDER BY r.id LIMIT ${sql.integer(count)}`
  const rows = await ask(db, statement)
  const change = { op: 'update', key: null, precondition: null, body: changes as Json } as const
  const operations = rows.map(({ id }) => ({ ...change, id: Number(id) }))
  const outcomes = await carryOutLocked(work, operations, oldest)
  let [updated, unchanged] = [0, 0]
  const problems = outcomes.flatMap((outcome, index) => {
    if ('refusal' in outcome) return [refusedAt(Number(rows[index]!.id), outcome.refusal)]
    if ('saved' in outcome && outcome.saved.isUnchanged) unchanged++
    else updated++
    return []
  })
  return {
    position: Number(rows.at(-1)?.id ?? job.position),
    done: rows.length,
    counts: { updated, unchanged, refused: problems.length },
    problems,
    isEnd: rows.length < count,
  }
}

/**
 * The number of records that the filter finds. Throws `malformed_query` for one that can't be parsed, and
 * `forbidden` without the scopes to read what it finds and reaches.
 */
export async function countFound(work: FilterWork, filter: readonly string[]): Promise<number> {
  const [table, where] = [tableOf(work.schema), await found(work, filter)]
  const [row] = await ask(work.db, sql`SELECT count(*)::text AS count FROM ${table} r WHERE ${where}`)
  return Number(row!.count)
}

/**
 * The condition that selects the records, among those that the caller sees. Their number reveals data, so it
 * takes the scopes to read it (D65, D87), at the time of each step.
 */
async function found({ db, schema, context }: FilterWork, filter: readonly string[]): Promise<Sql> {
  const { catalog, rights } = context
  rights.need(`${schema.resource.name}:read`)
  const now = new Date().toISOString()
  const parameters = new Map([['filter', filter]])
  const asked = await resolveNames(db, context, names =>
    readListQuery(parameters, schema, catalog, now, names),
  )
  requireReadScopes(rights, [], asked)
  return whereSql(callerParamsOf(context), asked)
}
