/**
 * Deletes many records of one resource with one statement, or none of them (D78): records that nothing points
 * to and that have no parts. Others are deleted individually, in order, which also says what is wrong.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { changeable, visible } from '../rights/visibility.ts'
import { param, sql } from '../sql.ts'
import { deletion } from './parts.ts'
import { unpointed } from './references.ts'
import { authorOf, type Context } from './save.ts'
import { type Queryable, tableOf } from './store.ts'
import { freedKeys } from './unique.ts'
import { carryOut, statementOf, type Write, writing } from './write.ts'

/** True if only references to a record can forbid its deletion. */
export function canBeRemovedTogether({ resource }: ResourceFields): boolean {
  const { isConfiguration, actor, forbids, stays } = resource
  return !isConfiguration && !actor && !forbids && !stays
}

/**
 * Deletes these records, in this order. Returns false, and deletes none, if one of them can't be deleted so.
 * Call it under the account's lock.
 */
export async function removeTogether(
  db: Queryable,
  fields: ResourceFields,
  ids: readonly number[],
  context: Context,
): Promise<boolean> {
  const by = authorOf(context)
  const statement = statementOf(writing(by, removalOfMany(by, fields, ids, context.catalog)))
  return (await carryOut(db, by.account, statement)).length > 0
}

function removalOfMany(
  by: WriteParams,
  fields: ResourceFields,
  ids: readonly number[],
  catalog: Catalog,
): Write {
  const { name, parts = [] } = fields.resource
  const [table, t, r] = [tableOf(fields), sql`t`, sql`r`]
  const [all, count] = [param(`{${ids.join()}}`), param(String(ids.length))]
  const unused = unpointed(name, by, catalog, sql`${all}::bigint[]`).map(
    one => sql`
    AND ${one}`,
  )
  return {
    changes: [
      sql`removable AS MATERIALIZED (
  SELECT t.id FROM locked, ${table} t
  WHERE ${visible(name, by, t)} AND ${changeable(name, by, t)} AND t.id = ANY(${all}::bigint[])
    AND t.deleted_at IS NULL
)`,
      sql`r AS (
  UPDATE ${table} SET version = version + 1, ${deletion(by)}
  FROM locked
  WHERE account_id = ${by.account}::bigint AND id = ANY(${all}::bigint[])
    AND (SELECT count(*) FROM removable) = ${count}::bigint${sql.join(unused, sql.none)}
  RETURNING ${table}.*
)`,
    ],
    rows: [...freedKeys(by, fields, r, 'freed'), ...(fields.resource.bringsInLine?.(by, r) ?? [])],
    events: [
      {
        type: `${name}.deleted`,
        resource: name,
        of: sql`(SELECT r.id, r.version, o.place
    FROM r JOIN unnest(${all}::bigint[]) WITH ORDINALITY o (id, place) ON o.id = r.id)`,
        count,
        order: sql`e.place`,
      },
    ],
    hasOwnMoment: parts.length > 0,
    answer: sql`SELECT 1 AS removed FROM r LIMIT 1`,
  }
}
