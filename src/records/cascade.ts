/**
 * Cascade: the parts of a record are deleted and restored with it. Each part has its own event, before that
 * of the record.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { type Sql, sql } from '../sql.ts'
import { tableOf } from './store.ts'
import { freedKeys, newKeys } from './unique.ts'
import type { Write } from './write/protocol.ts'

/** The SET items of a soft delete. */
export function deletion({ actor }: WriteParams): Sql {
  return sql`deleted_at = locked.at, deleted_by = ${actor}::bigint`
}

/** A subquery of the parts of the resource `part` that were deleted with the record, at that moment. */
export function partsOfDeletion(whole: Whole, part: string, deletedAt: string): Sql {
  return sql`(SELECT x.* FROM ${sql.id(part)} x, ${recordOf(whole)}
    WHERE ${isOf(whole, part)} AND ${wasDeletedAt(deletedAt)})`
}

type Cascade = Required<Pick<Write, 'updates' | 'events'>>

/** The record `r`, whose parts of the resources `parts` go along. */
export type Whole = {
  readonly params: WriteParams
  readonly schema: ResourceSchema
  readonly id: number
  readonly parts: readonly string[]
}

/** Deletes the parts. The write has a moment of its own. */
export function cascadeDelete(whole: Whole): Cascade {
  return cascade(whole, {
    ...{ verb: 'deleted', set: deletion(whole.params), keys: (...of) => freedKeys(whole.params, ...of) },
    ...{ before: sql`x.deleted_at IS NULL`, after: sql`x.deleted_at = locked.at` },
  })
}

/**
 * Restores those that were deleted with it, at that moment; `set`: the SET items. The write has a moment of
 * its own, too.
 */
export function cascadeRestore(whole: Whole, set: Sql, deletedAt: string): Cascade {
  return cascade(whole, {
    ...{ verb: 'restored', set, keys: newKeys },
    before: wasDeletedAt(deletedAt),
    after: sql`x.deleted_at IS NULL AND x.updated_at = locked.at`,
  })
}

/** A change of parts, and the conditions that tell them before it and after it. */
type Change = {
  readonly verb: 'deleted' | 'restored'
  readonly set: Sql
  readonly keys: typeof newKeys
  readonly before: Sql
  readonly after: Sql
}

/** The columns of `r` that follow from its parts don't change: parts that go with it come back with it. */
function cascade(whole: Whole, { verb, set, keys, before, after }: Change): Cascade {
  const { params, parts } = whole
  const all = parts.map((part, index) => {
    return { part, isPart: isOf(whole, part), table: sql.id(part), name: `part${index}` }
  })
  const record = recordOf(whole)
  return {
    updates: all.flatMap(({ part, isPart, table, name }) => [
      {
        name,
        change: sql`
  UPDATE ${table} x SET version = x.version + 1, ${set}
  FROM r, locked
  WHERE ${isPart} AND ${before}
`,
        returning: sql`x.*`,
        rows: () => sql`SELECT x.* FROM ${table} x, r, locked WHERE ${isPart} AND ${after}`,
      },
      ...keys(params.resources.get(part)!, name),
    ]),
    events: all.map(({ part, isPart, table, name }) => ({
      type: `${part}.${verb}`,
      resource: part,
      of: sql.id(name),
      countBefore: sql`(SELECT count(*) FROM ${table} x, ${record} WHERE ${isPart} AND ${before})`,
    })),
  }
}

/** The record as `r`, in a statement of its own. */
function recordOf({ params, schema, id }: Whole): Sql {
  return sql`(SELECT * FROM ${tableOf(schema)} t
    WHERE t.account_id = ${params.account}::bigint AND t.id = ${String(id)}::bigint) r`
}

/** The condition that `x` is a part of the record `r`, not of a nearer one. */
function isOf({ params, schema }: Whole, part: string): Sql {
  const { name } = schema.resource
  const { partOf = [name] } = params.resources.get(part)!.resource
  const nearer = partOf.slice(0, partOf.indexOf(name)).map(other => sql` AND x.${sql.id(other)} IS NULL`)
  return sql`x.account_id = ${params.account}::bigint AND x.${sql.id(name)} = r.id${sql.join(nearer, sql.none)}`
}

function wasDeletedAt(moment: string): Sql {
  return sql`x.deleted_at = ${moment}::timestamptz`
}
