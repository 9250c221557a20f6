/**
 * The maximum number of live records of a resource (D110, D130). Checked twice: by a SELECT, which can say
 * what is wrong, and under the account's lock, so that concurrent requests don't exceed it.
 */
import { type Problem, problemAt } from '../errors.ts'
import type { Values } from '../fields/field.ts'
import type { Resource } from '../fields/resource.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Work } from './work.ts'

/** The problem if one more record like this would exceed the limit; else null. */
export async function quotaProblem(work: Work, record: Values): Promise<Problem | null> {
  const { db, schema, context } = work
  const { resource } = schema
  const [room] = quotaConditions(param(String(context.catalog.account.id)), resource, record)
  if (!room) return null
  const [row] = await ask(db, sql`SELECT (${room})::text AS is_room`)
  if (row!.is_room === 'true') return null
  const { count, what } = resource.quota!
  const message = `The ${resource.name} would exceed the limit of ${count} ${what}.`
  return { ...problemAt('', 'too_many', message), hint: 'Delete one that is not used any more.' }
}

/**
 * Conditions of a write: there is room for one more record like this. They hold only in a statement that
 * begins under the account's lock.
 */
export function quotaConditions(account: Param, { name, quota }: Resource, record: Values): Sql[] {
  const owner = quota?.of === undefined ? null : (record[quota.of] ?? null)
  if (!quota || (quota.of !== undefined && owner === null)) return []
  const like = quota.of === undefined ? sql.none : sql` AND x.${sql.id(quota.of)} = ${String(owner)}::bigint`
  return [
    sql`(
    SELECT count(*) FROM (
      SELECT 1 FROM ${sql.id(name)} x
      WHERE x.account_id = ${account}::bigint AND x.deleted_at IS NULL${like}
      LIMIT ${sql.integer(quota.count)}) y) < ${sql.integer(quota.count)}`,
  ]
}
