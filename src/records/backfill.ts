/**
 * Backfill of columns that follow from an account's configuration (D56), in small batches so that nobody
 * waits long. Computes each value under the account's lock from the current record. Stops once the
 * configuration changes again: that change starts a backfill of its own. Idempotent, and can be interrupted
 * at any time. Versions and times stay the same, because no user has changed the records.
 */
import type { Catalog } from '../fields/catalog.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Transaction } from './store.ts'
import { writeStatement } from './write/protocol.ts'

/** The columns to backfill, as SQL over the row `r`. */
export type Backfill = {
  readonly table: string
  /** column → its value */
  readonly values: { readonly [column: string]: Sql }
  /** FROM items that the values need besides the row */
  readonly from: readonly Sql[]
  /** condition on the rows that follow the configuration, with the join of `from` */
  readonly where: Sql
}

const readAtOnce = 1000
const writtenAtOnce = 200

/**
 * Raises the version of an account's configuration by a change of fields or forms, which no derived value
 * follows from: records that follow the version before follow the new one, too (D109).
 */
export const fieldsVersion = sql`catalog_version = catalog_version + 1,
    derived_version = derived_version + (derived_version = catalog_version)::int`

/** True if all derived values of the account's records follow the latest configuration. */
export async function isDerived(db: Transaction, account: number): Promise<boolean> {
  const statement = sql`SELECT 1 AS one FROM account
      WHERE account_id = ${String(account)}::bigint AND derived_version = catalog_version`
  const rows = await ask(db, statement)
  return rows.length > 0
}

/** Updates the columns of an account's records that differ from its configuration. */
export async function backfill(
  db: Transaction,
  { account: { id }, version }: Catalog,
  backfill: Backfill,
): Promise<void> {
  const account = param(String(id))
  for (let after = '0', read = readAtOnce; read === readAtOnce; ) {
    const [row] = await ask(db, differingSql(backfill, account, after))
    const differing = JSON.parse(row!.differing!) as number[]
    for (let start = 0; start < differing.length; start += writtenAtOnce) {
      const ids = differing.slice(start, start + writtenAtOnce)
      const [written] = await writeStatement(db, account, followingSql(backfill, account, ids, version), true)
      if (written!.is_current !== 'true') return
    }
    after = row!.last!
    read = Number(row!.read)
  }
}

/**
 * Reads the next thousand records after an id. Returns their number, the last id, and the ids of those whose
 * columns differ.
 */
function differingSql(backfill: Backfill, account: Param, after: string): Sql {
  return sql`WITH part AS MATERIALIZED (
  SELECT * FROM ${sql.id(backfill.table)} r
  WHERE r.account_id = ${account}::bigint AND r.id > ${after}::bigint
  ORDER BY r.id LIMIT ${sql.integer(readAtOnce)}
)
SELECT (SELECT count(*) FROM part)::text AS read, (SELECT max(id) FROM part)::text AS last, (
  SELECT coalesce(json_agg(r.id), '[]') FROM ${sql.join([sql`part r`, ...backfill.from])}
  WHERE ${differs(backfill)})::text AS differing`
}

/**
 * Updates the columns of these records, if the configuration still has this version. Computes the values
 * before the UPDATE: a distributed PostgreSQL sets a column by no stable function of another (D173). The rows
 * are locked before that, so that the values follow from what was written last.
 */
function followingSql(backfill: Backfill, account: Param, ids: readonly number[], version: string): Sql {
  const names = Object.keys(backfill.values).map(column => sql.id(column))
  const values = Object.entries(backfill.values).map(([column, value]) => sql`${value} AS ${sql.id(column)}`)
  const set = names.map(name => sql`${name} = v.${name}`)
  const table = sql.id(backfill.table)
  return sql`WITH current AS (
  SELECT 1 AS one FROM account WHERE account_id = ${account}::bigint AND catalog_version = ${version}::bigint
),
following AS MATERIALIZED (
  SELECT r.id, ${sql.join(values, sql`,\n    `)}
  FROM ${sql.join([sql`current`, sql`${table} r`, ...backfill.from])}
  WHERE r.account_id = ${account}::bigint AND r.id = ANY(${`{${ids.join()}}`}::bigint[])
    AND ${differs(backfill)}
  FOR NO KEY UPDATE OF r
),
done AS (
  UPDATE ${table} t SET ${sql.join(set)}
  FROM following v WHERE t.account_id = ${account}::bigint AND t.id = v.id
)
SELECT EXISTS (SELECT 1 FROM current)::text AS is_current`
}

/** The condition that a row follows the configuration and differs from it. */
function differs({ values, where }: Backfill): Sql {
  const differing = Object.entries(values).map(
    ([column, value]) => sql`r.${sql.id(column)} IS DISTINCT FROM ${value}`,
  )
  return sql`${where} AND (${sql.join(differing, sql` OR `)})`
}
