/**
 * How many live records of a resource there may be of one maker (D130). Requests at the same moment may pass
 * it.
 */
import { type Problem, problemAt } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import { ask, sql } from '../sql.ts'
import type { Reader } from './store.ts'

/** Why there can't be one more like this one; null where there can. */
export async function tooMany(
  db: Reader,
  { resource: { name, most } }: ResourceFields,
  account: number,
  record: Values,
): Promise<Problem | null> {
  const owner = most && record[most.of]
  if (!most || owner === null) return null
  const [row] = await ask(
    db,
    sql`SELECT count(*)::text AS count FROM (
  SELECT 1 FROM ${sql.id(name)}
  WHERE account_id = ${String(account)}::bigint AND ${sql.id(most.of)} = ${String(owner)}::bigint
    AND deleted_at IS NULL
  LIMIT ${sql.integer(most.count)}) x`,
  )
  if (Number(row!.count) < most.count) return null
  const message = `Nobody has more than ${most.count} records of ${name}.`
  return { ...problemAt('', 'too_many', message), hint: 'Delete one that is not used any more.' }
}
