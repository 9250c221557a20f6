/**
 * The purge of a deleted account (D67): every row of every table that belongs to it, in batches. The counter
 * goes first, without which the account accepts no writes and can't be restored; the account goes last. So an
 * interrupted purge is found and resumed. The tables are read from the database's catalog, so that none is
 * missed.
 */
import { accountTables } from '../../db/account-tables.ts'
import type { Transaction } from '../../records/store.ts'
import { writeStatement } from '../../records/write/protocol.ts'
import { ask, deleteSome, param, sql } from '../../sql.ts'

const batch = 500

/** Purge state of an account: in use, deleted but within the retention period, or due for purge. */
export type PurgeState = 'in use' | 'kept' | 'due'

/** An account's purge state; `oldest`: the start of the retention period. */
export async function purgeState(db: Transaction, account: number, oldest: Date): Promise<PurgeState | null> {
  const own = param(String(account))
  const statement = sql`SELECT (a.deleted_at IS NULL)::text AS is_in_use,
      (a.deleted_at < ${oldest.toISOString()}::timestamptz OR NOT EXISTS (
        SELECT 1 FROM counter c WHERE c.account_id = ${own}::bigint))::text AS is_due
    FROM account a WHERE a.account_id = ${own}::bigint`
  const [row] = await ask(db, statement)
  if (!row) return null
  return row.is_in_use === 'true' ? 'in use' : row.is_due === 'true' ? 'due' : 'kept'
}

/**
 * Deletes the rows of an account that is due. Returns their number; null if the account was restored
 * meanwhile, or `isStopped` interrupts the purge, which is resumed later. Safe in several processes at once.
 */
export async function purgeAccount(
  db: Transaction,
  account: number,
  oldest: Date,
  isStopped: () => boolean,
): Promise<number | null> {
  const own = param(String(account))
  await writeStatement(
    db,
    own,
    sql`DELETE FROM counter WHERE account_id = ${own}::bigint AND EXISTS (
      SELECT 1 FROM account a
      WHERE a.account_id = ${own}::bigint AND a.deleted_at < ${oldest.toISOString()}::timestamptz)`,
    true,
  )
  const [counter] = await ask(db, sql`SELECT 1 AS one FROM counter WHERE account_id = ${own}::bigint`)
  if (counter) return null
  const { tables } = await accountTables(text => db.query(text))
  let rows = 1
  for (const { name } of tables.reverse()) {
    for (let count = batch; count > 0; rows += count) {
      if (isStopped()) return null
      count = await deleteSome(db, name, batch, row => sql`${row}.account_id = ${own}::bigint`)
    }
  }
  return rows
}
