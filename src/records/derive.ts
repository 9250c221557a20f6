/**
 * Columns that follow from an account's configuration (D56): brought in line with it a few records at a time,
 * so that neither the account's writes nor its neighbours wait for all of them. Each is worked out of the
 * record as it stands under the account's lock, and nothing is written once the configuration is another than
 * the one that is followed: whoever changed it follows it himself. May be repeated at any time, and cut
 * short. Versions and times stay, as nobody has changed the records.
 */
import type { Catalog } from '../fields/catalog.ts'
import { ask, type Param, param, type Sql, sql } from '../sql.ts'
import type { Queryable } from './store.ts'
import { carryOut, lockFirst } from './write.ts'

/** What follows, over the row `r`. */
export type Derivation = {
  readonly table: string
  /** column → its value */
  readonly values: { readonly [column: string]: Sql }
  /** what the values are made of beside the row, as items of a FROM */
  readonly from: readonly Sql[]
  /** the rows that follow the configuration, and what of `from` belongs to each */
  readonly where: Sql
}

const readAtOnce = 1000
const writtenAtOnce = 200

/** Brings an account's records in line with its configuration. */
export async function derive(
  db: Queryable,
  { account: { id }, version }: Catalog,
  derivation: Derivation,
): Promise<void> {
  const account = param(String(id))
  for (let after = '0', read = readAtOnce; read === readAtOnce; ) {
    const [row] = await ask(db, differingSql(derivation, account, after))
    const differing = JSON.parse(row!.differing!) as number[]
    for (let start = 0; start < differing.length; start += writtenAtOnce) {
      const ids = differing.slice(start, start + writtenAtOnce)
      const [written] = await carryOut(
        db,
        account,
        followingSql(derivation, account, ids, version),
        lockFirst,
      )
      if (written!.is_current !== 'true') return
    }
    after = row!.last!
    read = Number(row!.read)
  }
}

/** Of the records after that id, the first thousand: how many there are, the last, and those that differ. */
function differingSql(derivation: Derivation, account: Param, after: string): Sql {
  return sql`WITH part AS MATERIALIZED (
  SELECT * FROM ${sql.id(derivation.table)} r
  WHERE r.account_id = ${account}::bigint AND r.id > ${after}::bigint
  ORDER BY r.id LIMIT ${sql.integer(readAtOnce)}
)
SELECT (SELECT count(*) FROM part)::text AS read, (SELECT max(id) FROM part)::text AS last, (
  SELECT coalesce(json_agg(r.id), '[]') FROM ${sql.join([sql`part r`, ...derivation.from])}
  WHERE ${differs(derivation)})::text AS differing`
}

/** Writes what follows into those records, as long as the configuration is the one that is followed. */
function followingSql(derivation: Derivation, account: Param, ids: readonly number[], version: string): Sql {
  const set = Object.entries(derivation.values).map(([column, value]) => sql`${sql.id(column)} = ${value}`)
  return sql`WITH current AS (
  SELECT 1 FROM account WHERE account_id = ${account}::bigint AND catalog_version = ${version}::bigint
),
done AS (
  UPDATE ${sql.id(derivation.table)} r SET
    ${sql.join(set, sql`,\n    `)}
  FROM ${sql.join([sql`current`, ...derivation.from])}
  WHERE r.account_id = ${account}::bigint AND r.id = ANY(${`{${ids.join()}}`}::bigint[])
    AND ${differs(derivation)}
)
SELECT EXISTS (SELECT 1 FROM current)::text AS is_current`
}

/** That the row follows the configuration, and is not in line with it. */
function differs({ values, where }: Derivation): Sql {
  const differing = Object.entries(values).map(
    ([column, value]) => sql`r.${sql.id(column)} IS DISTINCT FROM ${value}`,
  )
  return sql`${where} AND (${sql.join(differing, sql` OR `)})`
}
