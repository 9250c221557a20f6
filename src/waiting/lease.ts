/**
 * Leases on rows of a table (D72, D84): a process takes a row for some seconds and renews that, so no two
 * work for it at once, and another goes on soon after one was killed. The lease is in the row (`lease`: its
 * holder, `leased_until`) and uses the clock of the database. Nothing waits: a row that another process holds
 * is skipped. Work that has lost its lease must notice, so each of its statements checks `isHeld`. No
 * statement here locks more than one row.
 */
import { ask, type Part, param, type Sql, sql, type Value } from '../sql.ts'

type Row = Readonly<Record<string, string | null>>
type Reader = { query(text: string, values: readonly Value[]): Promise<readonly Row[]> }

export type LeaseOptions<Key> = {
  readonly table: string
  /** the alias of the table in all conditions */
  readonly alias: string
  /** duration of a lease that is not renewed */
  readonly seconds: number
  /** the condition that a row is the key's */
  isRow(key: Key): Sql
}

type Claim = { readonly where?: Sql; readonly set?: Sql; readonly returning: Sql }

export function leaseOn<Key>({ table, alias, seconds, isRow }: LeaseOptions<Key>) {
  const row = sql.id(alias)
  /** the condition that the row has no holder */
  const isFree = sql`${row}.leased_until < now()`
  /** the condition that a row is the key's and `holder` holds it */
  const isHeld = (key: Key, holder: Part) => sql`${isRow(key)} AND ${row}.lease = ${holder}::text`
  /** the assignment that renews a lease */
  const renewed = sql`leased_until = now() + make_interval(secs => ${sql.integer(seconds)})`
  return {
    isFree,
    isHeld,
    renewed,
    /**
     * Takes a row for `holder`, or renews its lease, if the row meets the condition `where`. Sets `set`, too,
     * and returns the columns `returning`; null if another process holds the row.
     */
    async claim(db: Reader, key: Key, holder: string, claim: Claim): Promise<Row | null> {
      const { where = sql`true`, set = sql.none, returning } = claim
      const own = param(holder)
      const statement = sql`WITH ${row} AS (
UPDATE ${sql.id(table)} ${row} SET ${sql.join([sql`lease = ${own}::text`, renewed, set])}
WHERE ${isRow(key)} AND ${where} AND (${isFree} OR ${row}.lease = ${own}::text) RETURNING ${row}.*)
SELECT ${returning} FROM ${row}`
      const rows = await ask(db, statement)
      return rows[0] ?? null
    },
    /** Releases a row, so that another process may take it at once. Sets `set`, too. */
    async release(db: Reader, key: Key, holder: string, set: Sql = sql.none): Promise<void> {
      const given = sql.join([sql`lease = NULL, leased_until = '-infinity'`, set])
      await ask(db, sql`UPDATE ${sql.id(table)} ${row} SET ${given} WHERE ${isHeld(key, holder)}`)
    },
  }
}
