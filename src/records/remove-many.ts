/**
 * Deletes many records of one resource with one statement, or none of them (D78): records that nothing points
 * to and that have no parts. Others are deleted individually, in order, which also says what is wrong.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import { changeable, visible } from '../rights/visibility.ts'
import { param, sql } from '../sql.ts'
import { deletion } from './cascade.ts'
import { unpointed } from './references.ts'
import { authorOf, type WriteContext } from './save.ts'
import { type Transaction, tableOf } from './store.ts'
import { freedKeys } from './unique.ts'
import { carryOut, statementOf, type Write, writing } from './write.ts'

/** True if only references to a record can forbid its deletion. */
export function canBeRemovedTogether({ resource }: ResourceSchema): boolean {
  const { isConfiguration, actor, whyForbidden, whyUndeletable } = resource
  return !isConfiguration && !actor && !whyForbidden && !whyUndeletable
}

/**
 * Deletes these records, in this order. Returns false, and deletes none, if one of them can't be deleted so.
 * Call it under the account's lock.
 */
export async function removeTogether(
  db: Transaction,
  schema: ResourceSchema,
  ids: readonly number[],
  context: WriteContext,
): Promise<boolean> {
  const params = authorOf(context)
  const statement = statementOf(writing(params, removalOfMany(params, schema, ids, context.catalog)))
  return (await carryOut(db, params.account, statement)).length > 0
}

function removalOfMany(
  params: WriteParams,
  schema: ResourceSchema,
  ids: readonly number[],
  catalog: Catalog,
): Write {
  const { name, parts = [] } = schema.resource
  const [table, t, r] = [tableOf(schema), sql`t`, sql`r`]
  const [all, count] = [param(`{${ids.join()}}`), param(String(ids.length))]
  const unused = unpointed(name, params, catalog, sql`${all}::bigint[]`).map(
    one => sql`
    AND ${one}`,
  )
  return {
    changes: [
      sql`removable AS MATERIALIZED (
  SELECT t.id FROM locked, ${table} t
  WHERE ${visible(name, params, t)} AND ${changeable(name, params, t)} AND t.id = ANY(${all}::bigint[])
    AND t.deleted_at IS NULL
)`,
      sql`r AS (
  UPDATE ${table} SET version = version + 1, ${deletion(params)}
  FROM locked
  WHERE account_id = ${params.account}::bigint AND id = ANY(${all}::bigint[])
    AND (SELECT count(*) FROM removable) = ${count}::bigint${sql.join(unused, sql.none)}
  RETURNING ${table}.*
)`,
    ],
    rows: [...freedKeys(params, schema, r, 'freed'), ...(schema.resource.updatesOthers?.(params, r) ?? [])],
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
