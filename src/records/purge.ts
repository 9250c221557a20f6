/**
 * Purge of deleted records after the retention period (D9): they can no longer be restored, their rows are
 * removed, and the changes in their events are cleared. The events themselves stay, so that `seq` has no
 * gaps.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { Catalog } from '../fields/catalog.ts'
import type { Resource } from '../fields/resource.ts'
import { param, sql } from '../sql.ts'
import { pointersTo } from './references.ts'
import type { Transaction } from './store.ts'
import { execute } from './write/execute.ts'
import { author, type Write } from './write/protocol.ts'

export type Purge = {
  readonly purged: number
  /** resource → number of its due records that stay, because a record that is not due points to them */
  readonly kept: { readonly [resource: string]: number }
}

const batch = 200

/** The actor of the service's own writes. */
const service = 0

/** Purges records deleted before `before`. Users stay, because the records that they created name them. */
export async function purgeRecords(db: Transaction, catalog: Catalog, before: Date): Promise<Purge> {
  let purged = 0
  const kept: { [resource: string]: number } = {}
  for (const { resource, fields } of purgeOrder(catalog)) {
    if (resource.actor || !fields.some(field => field.internal_name === 'deleted_at')) continue
    const params = author({ catalog, actor: service })
    const write = purge(params, resource, catalog, before)
    for (;;) {
      const [row] = await execute(db, params, write)
      const [count, left] = [Number(row!.purged), Number(row!.due) - Number(row!.purged)]
      purged += count
      if (count > 0 && left > 0) continue
      if (left > 0) kept[resource.name] = left
      break
    }
  }
  return { purged, kept }
}

/** The resources in the order of their purge: a resource comes before those that its records point to. */
function purgeOrder({ resources }: Catalog) {
  const pointedTo = (name: string) =>
    new Set(resources.get(name)!.fields.flatMap(field => field.related ?? []))
  const ordered: string[] = []
  const place = (name: string, above: readonly string[]) => {
    if (ordered.includes(name) || above.includes(name) || !resources.has(name)) return
    for (const other of pointedTo(name)) place(other, [...above, name])
    ordered.unshift(name)
  }
  for (const name of resources.keys()) place(name, [])
  return ordered.map(name => resources.get(name)!)
}

/**
 * Purges a batch of due records. Returns the numbers of due and of purged records. A record stays as long as
 * another record, deleted or not, points to it: the other one may be restored and needs it, and a foreign key
 * would refuse the whole batch.
 */
function purge({ account }: WriteParams, { name }: Resource, catalog: Catalog, before: Date): Write {
  const table = sql.id(name)
  const oldest = param(before.toISOString())
  const due = sql`FROM ${table} t
    WHERE t.account_id = ${account}::bigint AND t.deleted_at < ${oldest}::timestamptz`
  const free = pointersTo(name, catalog, sql`t.id`).map(
    ({ resource, condition }) => sql`
      AND NOT EXISTS (
        SELECT 1 FROM ${sql.id(resource)} x WHERE x.account_id = ${account}::bigint AND ${condition})`,
  )
  const purged = sql`SELECT t.id ${due}${sql.join(free, sql.none)}
    ORDER BY t.id LIMIT ${sql.integer(batch)}`
  const deleted = sql`
  DELETE FROM ${table} d USING locked
  WHERE d.account_id = ${account}::bigint AND d.id IN (
    ${purged})
  RETURNING d.id, d.version
`
  const wiped = sql`
  UPDATE event e SET changes = '{}'
  FROM r WHERE e.account_id = ${account}::bigint AND e.record_id = r.id AND e.resource = ${sql.text(name)}
`
  return {
    seesAll: true,
    changes: [
      { name: 'r', change: deleted },
      { name: 'wiped', change: wiped },
    ],
    events: [
      {
        type: `${name}.purged`,
        resource: name,
        of: sql`(SELECT id, version + 1 AS version FROM r)`,
        countBefore: sql`(SELECT count(*) FROM (${purged}) d)`,
      },
    ],
    answer: sql`SELECT (SELECT count(*) FROM r)::text AS purged, (SELECT count(*) ${due})::text AS due`,
  }
}
