/**
 * Columns that follow from an account's configuration (D56): brought in line with it a few records at a time,
 * so that neither the account's writes nor its neighbours wait for all of them. Each is worked out of the
 * record as it stands under the account's lock, and nothing is written once the configuration is another than
 * the one that is followed: whoever changed it follows it himself. May be repeated at any time, and cut
 * short. Versions and times stay, as nobody has changed the records.
 */
import type { Catalog } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import type { Queryable } from './store.ts'
import { lockAccount } from './write.ts'

/** What follows, as SQL over the row `r`; $1 is the account, $2… the parameters. */
export type Derivation = {
  readonly table: string
  /** column → its value */
  readonly values: { readonly [column: string]: string }
  /** what the values are made of beside the row, as items of a FROM */
  readonly from: readonly string[]
  /** the rows that follow the configuration, and what of `from` belongs to each */
  readonly where: string
}

const readAtOnce = 1000
const writtenAtOnce = 200

/** Brings an account's records in line with its configuration. */
export async function derive(
  db: Queryable,
  { account: { id }, version }: Catalog,
  derivation: Derivation,
  params: readonly string[],
): Promise<void> {
  const account = String(id)
  const { find, write } = statementsOf(derivation, params.length)
  for (let after = '0', read = readAtOnce; read === readAtOnce; ) {
    const [row] = await db.query(find, [account, ...params, after])
    const differing = JSON.parse(row!.differing!) as number[]
    for (let start = 0; start < differing.length; start += writtenAtOnce) {
      const ids = differing.slice(start, start + writtenAtOnce)
      const [written] = await db.write(
        account,
        write,
        [account, ...params, `{${ids.join()}}`, version],
        lockAccount,
      )
      if (written!.is_current !== 'true') return
    }
    after = row!.last!
    read = Number(row!.read)
  }
}

const made = new WeakMap<Derivation, { find: string; write: string }>()

function statementsOf(derivation: Derivation, params: number): { find: string; write: string } {
  const known = made.get(derivation)
  if (known) return known
  const { table, values, from, where } = derivation
  const name = identifier(table)
  const [next, last] = [`$${params + 2}`, `$${params + 3}`]
  const differs = Object.entries(values).map(
    ([column, value]) => `r.${identifier(column)} IS DISTINCT FROM ${value}`,
  )
  const follows = `${where} AND (${differs.join(' OR ')})`
  const set = Object.entries(values).map(([column, value]) => `${identifier(column)} = ${value}`)
  const find =
    `WITH part AS MATERIALIZED (SELECT * FROM ${name} r WHERE r.account_id = $1::bigint AND r.id > ${next}::bigint ORDER BY r.id LIMIT ${readAtOnce}) ` +
    `SELECT (SELECT count(*) FROM part)::text AS read, (SELECT max(id) FROM part)::text AS last, ` +
    `(SELECT coalesce(json_agg(r.id), '[]') FROM ${['part r', ...from].join(', ')} WHERE ${follows})::text AS differing`
  const write =
    `WITH current AS (SELECT FROM account WHERE account_id = $1::bigint AND catalog_version = ${last}::bigint), ` +
    `done AS (UPDATE ${name} r SET ${set.join(', ')} FROM ${['current', ...from].join(', ')} ` +
    `WHERE r.account_id = $1::bigint AND r.id = ANY(${next}::bigint[]) AND ${follows}) ` +
    'SELECT EXISTS (SELECT FROM current)::text AS is_current'
  const statements = { find, write }
  made.set(derivation, statements)
  return statements
}
