/**
 * Purge of deleted records after the retention period (D9): they can no longer be restored, their rows are
 * removed, and the changes in their events are cleared. The events themselves stay, so that `seq` has no
 * gaps.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { Catalog } from '../fields/catalog.ts'
import { serviceActor } from '../rights/visibility.ts'
import { ask, type Param, type Sql, sql } from '../sql.ts'
import { pointersTo } from './references.ts'
import type { Transaction } from './store.ts'
import { execute } from './write/execute.ts'
import { type Write, writeParamsOf } from './write/protocol.ts'

export type Purge = {
  readonly purged: number
  /** resource → number of its due records that stay, because a record that is not due points to them */
  readonly kept: { readonly [resource: string]: number }
}

const batch = 200

/** Purges records deleted before `before`. Users stay, because the records that they created name them. */
export async function purgeRecords(db: Transaction, catalog: Catalog, before: Date): Promise<Purge> {
  let purged = 0
  const kept: { [resource: string]: number } = {}
  const params = writeParamsOf({ catalog, actor: serviceActor })
  for (const { name, conditions } of await withDue(db, params.account, catalog, before)) {
    for (;;) {
      const { count, due } = await readDue(db, conditions)
      const write = purge(params, name, due, conditions)
      const isPurged = due.length > 0 && (await execute(db, params, write)).length > 0
      if (isPurged) purged += due.length
      const left = count - (isPurged ? due.length : 0)
      if (isPurged && left > 0) continue
      // One that changed meanwhile is due again in the next round.
      if (left > 0) kept[name] = left
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

/** The resources that have due records, in the order of their purge. One statement finds them. */
async function withDue(db: Transaction, account: Param, catalog: Catalog, before: Date) {
  const all = purgeOrder(catalog)
    .filter(
      ({ resource, fields }) =>
        !resource.actor && fields.some(({ internal_name }) => internal_name === 'deleted_at'),
    )
    .map(({ resource: { name } }) => ({ name, conditions: conditionsOf(account, name, catalog, before) }))
  const isAny = all.map(({ conditions: { table, isDue } }, index) => {
    return sql`SELECT ${sql.integer(index)} AS place WHERE EXISTS (SELECT 1 FROM ${table} t WHERE ${isDue})`
  })
  const due = await ask(db, sql`SELECT place::text AS place FROM (${sql.join(isAny, sql` UNION ALL `)}) d`)
  const places = new Set(due.map(({ place }) => Number(place)))
  return all.filter((_one, index) => places.has(index))
}

/** A record that is due. */
type Due = readonly [id: string, version: string]

/** The number of all due records, and those of a batch that may be purged. */
async function readDue(db: Transaction, { table, isDue, isFree }: Conditions) {
  const statement = sql`SELECT (SELECT count(*) FROM ${table} t WHERE ${isDue})::text AS count, (
      SELECT coalesce(json_agg(json_build_array(d.id::text, d.version::text) ORDER BY d.id), '[]')::text
      FROM (
        SELECT t.id, t.version FROM ${table} t WHERE ${isDue}${isFree}
        ORDER BY t.id LIMIT ${sql.integer(batch)}) d) AS due`
  const [row] = await ask(db, statement)
  return { count: Number(row!.count), due: JSON.parse(row!.due!) as Due[] }
}

/** Conditions on the row `t` of `table`. */
type Conditions = { readonly table: Sql; readonly isDue: Sql; readonly isFree: Sql }

/**
 * Due records are free unless another record, deleted or not, points to them: the other one may be restored
 * and needs it, and a foreign key would refuse the whole batch.
 */
function conditionsOf(account: Param, name: string, catalog: Catalog, before: Date): Conditions {
  const isFree = pointersTo(name, catalog, sql`t.id`).map(
    ({ resource, condition }) => sql`
      AND NOT EXISTS (
        SELECT 1 FROM ${sql.id(resource)} x WHERE x.account_id = ${account}::bigint AND ${condition})`,
  )
  return {
    table: sql.id(name),
    isDue: sql`t.account_id = ${account}::bigint AND t.deleted_at < ${before.toISOString()}::timestamptz`,
    isFree: sql.join(isFree, sql.none),
  }
}

/** Purges these records, or none if one of them is no longer due or free. */
function purge({ account }: WriteParams, name: string, due: readonly Due[], conditions: Conditions): Write {
  const { table, isDue, isFree } = conditions
  const count = sql.integer(due.length)
  const all = sql`${`{${due.map(([id]) => id).join()}}`}::bigint[]`
  const deleted = sql`
  DELETE FROM ${table} d USING counted
  WHERE d.account_id = ${account}::bigint AND d.id = ANY(${all})
`
  const wiped = sql`
  UPDATE event e SET changes = '{}' FROM counted
  WHERE e.account_id = ${account}::bigint AND e.record_id = ANY(${all}) AND e.resource = ${sql.text(name)}
`
  return {
    conditions: [
      sql`(SELECT count(*) FROM ${table} t WHERE ${isDue} AND t.id = ANY(${all})${isFree}) = ${count}`,
    ],
    locksFirst: true,
    steps: [
      { name: 'deleted', change: deleted },
      { name: 'wiped', change: wiped },
    ],
    events: [
      {
        ...{ type: `${name}.purged`, resource: name, count: due.length },
        of: sql`(SELECT d.id, d.version + 1 AS version, ${count} - d.place AS behind
    FROM unnest(${all}, ${`{${due.map(([, version]) => version).join()}}`}::int[]) WITH ORDINALITY d (id, version, place))`,
      },
    ],
    answer: sql`SELECT '' AS id FROM counted`,
  }
}
