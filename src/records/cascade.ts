/**
 * Cascade: the parts of a record are deleted and restored with it. Each part has its own event, before that
 * of the record.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { type Sql, sql } from '../sql.ts'
import { freedKeys, restoredKeys } from './unique.ts'
import type { Write } from './write.ts'

/** The SET items of a soft delete. */
export function deletion({ actor }: WriteParams): Sql {
  return sql`deleted_at = locked.at, deleted_by = ${actor}::bigint`
}

/** Deletes the parts of the record `r`, of these resources. */
export function cascadeDelete(schema: ResourceSchema, parts: readonly string[], params: WriteParams) {
  return cascade(schema, parts, params, 'deleted', deletion(params), sql`IS NULL`)
}

/**
 * Changes the parts `x` of the record `r`, of these resources, whose `deleted_at` matches `which`. The
 * columns of `r` that follow from its parts don't change: parts that go with it come back with it.
 */
export function cascade(
  { resource: { name } }: ResourceSchema,
  parts: readonly string[],
  params: WriteParams,
  verb: 'deleted' | 'restored',
  set: Sql,
  which: Sql,
): Required<Pick<Write, 'changes' | 'events'>> {
  const all = parts.map((part, index) => ({ part, cte: sql.id(`part${index}`) }))
  return {
    changes: all.flatMap(({ part, cte }, index) => [
      sql`${cte} AS (
  UPDATE ${sql.id(part)} x SET version = x.version + 1, ${set}
  FROM r, locked
  WHERE x.account_id = ${params.account}::bigint AND ${isPartOf(params, part, name)} AND x.deleted_at ${which}
  RETURNING x.*
)`,
      ...(verb === 'deleted' ? freedKeys : restoredKeys)(
        params,
        params.resources.get(part)!,
        cte,
        `part${index}_keys`,
      ),
    ]),
    events: all.map(({ part, cte }) => ({
      type: `${part}.${verb}`,
      resource: part,
      of: cte,
      isOfEach: true,
    })),
  }
}

/** The condition that `x` is a part of the record `r` of the resource `name`, not of a nearer one. */
function isPartOf({ resources }: WriteParams, part: string, name: string): Sql {
  const { partOf = [name] } = resources.get(part)!.resource
  const nearer = partOf.slice(0, partOf.indexOf(name)).map(other => sql` AND x.${sql.id(other)} IS NULL`)
  return sql`x.${sql.id(name)} = r.id${sql.join(nearer, sql.none)}`
}
