/** The same change to all records that a filter finds (D82), in the order of their ids. */
import type { Json, JsonObject } from '../json.ts'
import { needNames } from '../list/needed-scopes.ts'
import { readListQuery } from '../list/query.ts'
import { whereSql } from '../list/sql.ts'
import { carryOutBatch, type Operation } from '../records/batch.ts'
import { withNames } from '../records/names.ts'
import type { Context } from '../records/save.ts'
import { type Queryable, type Reader, tableOf } from '../records/store.ts'
import type { Rights } from '../rights/rights.ts'
import { sightOf } from '../rights/visibility.ts'
import { ask, type Sql, sql } from '../sql.ts'
import type { Job, Step } from './job.ts'
import { refusedAt } from './refused.ts'

/** What a bulk change is made of: the filters, as a list takes them, and the body of the change. */
export type BulkPlan = { readonly filter: readonly string[]; readonly changes: JsonObject }

/** Who asks for a bulk change, or for whom a step of it is carried out. */
type Asking = Context & { readonly rights: Rights }

/**
 * Changes the next records, in the transaction `tx`. What is refused stays as it is, and is named. Throws as
 * `countFound` does.
 */
export async function bulkStep(
  tx: Queryable,
  job: Job,
  context: Asking,
  oldest: Date,
  count: number,
): Promise<Step> {
  const { filter, changes } = job.plan as unknown as BulkPlan
  const fields = context.catalog.resources.get(job.resource)!
  const where = await found(tx, job.resource, filter, context)
  const rows = await ask(
    tx,
    sql`SELECT r.id::text AS id FROM ${tableOf(fields)} r
WHERE ${where} AND r.id > ${String(job.position)}::bigint ORDER BY r.id LIMIT ${sql.integer(count)}`,
  )
  const operations = rows.map(
    ({ id }): Operation => ({
      op: 'update',
      id: Number(id),
      told: null,
      precondition: null,
      body: changes as Json,
    }),
  )
  const outcomes = rows.length ? await carryOutBatch(tx, fields, operations, context, oldest) : []
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
 * How many records the filter finds. Throws `malformed_query` for one that can't be read, and `forbidden`
 * without the scopes to read what it finds and reaches.
 */
export async function countFound(
  db: Reader,
  resource: string,
  filter: readonly string[],
  context: Asking,
): Promise<number> {
  const fields = context.catalog.resources.get(resource)!
  const where = await found(db, resource, filter, context)
  const [row] = await ask(db, sql`SELECT count(*)::text AS count FROM ${tableOf(fields)} r WHERE ${where}`)
  return Number(row!.count)
}

/**
 * The condition of the records that are meant, of those that the caller sees. How many there are tells of
 * what is asked about, so it takes the scopes of reading that (D65, D87), in each step those of then.
 */
async function found(db: Reader, resource: string, filter: readonly string[], context: Asking): Promise<Sql> {
  const { catalog, rights } = context
  rights.need(`${resource}:read`)
  const fields = catalog.resources.get(resource)!
  const now = new Date().toISOString()
  const parameters = new Map([['filter', filter]])
  const asked = await withNames(db, context, names => readListQuery(parameters, fields, catalog, now, names))
  needNames(rights, [], asked)
  return whereSql(resource, sightOf(context), asked)
}
