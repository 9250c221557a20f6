/**
 * The accounts of the service (D67): finding, renaming, deleting and restoring. A deleted account is refused
 * to its callers at once (callers.ts), and purged later (work/background/purge-account.ts).
 * Transactions that create, delete or restore accounts are serialized across all processes.
 */
import { advisoryLock } from '../db/advisory-lock.ts'
import type { Database } from '../db/open.ts'
import { statementsOf } from '../mergeable-write.ts'
import type { Reader, Transaction } from '../records/store.ts'
import { writeStatement } from '../records/write/protocol.ts'
import { ask, param, sql } from '../sql.ts'
import { askEverywhere, type Everywhere } from './everywhere.ts'

export type Account = {
  readonly id: number
  readonly name: string
  readonly createdAt: string
  /** null: in use */
  readonly deletedAt: string | null
  /** false once its purge has begun */
  readonly isWhole: boolean
  readonly users: number
  readonly administrators: number
}

const instant = (column: 'created_at' | 'deleted_at') =>
  sql`to_char(a.${sql.id(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

/** All accounts by id, including deleted ones; `away`: null, or why those of a node are missing (D178). */
export async function allAccounts(db: Everywhere): Promise<{ accounts: Account[]; away: Error | null }> {
  const { rows, away } = await askEverywhere(
    db,
    isAsked => sql`SELECT a.account_id::text AS id, a.name, ${instant('created_at')} AS created_at,
      ${instant('deleted_at')} AS deleted_at,
      EXISTS (SELECT 1 FROM counter c WHERE c.account_id = a.account_id AND ${isAsked(sql`c.account_id`)})::text AS is_whole,
      (SELECT count(*) FROM "user" u
       WHERE u.account_id = a.account_id AND u.deleted_at IS NULL AND ${isAsked(sql`u.account_id`)})::text AS users,
      (SELECT count(*) FROM "user" u JOIN role o ON o.account_id = u.account_id AND o.id = u.role
       WHERE u.account_id = a.account_id AND u.deleted_at IS NULL AND u.is_active = 1
         AND o.scopes ? 'admin' AND ${isAsked(sql`u.account_id`)} AND ${isAsked(sql`o.account_id`)})::text AS administrators
    FROM account a WHERE ${isAsked(sql`a.account_id`)} ORDER BY a.account_id`,
  )
  const accounts = rows.map(row => ({
    id: Number(row.id),
    name: row.name!,
    createdAt: row.created_at!,
    deletedAt: row.deleted_at!,
    isWhole: row.is_whole === 'true',
    users: Number(row.users),
    administrators: Number(row.administrators),
  }))
  return { accounts, away }
}

/** Soft-deletes an account. False if it is the only one in use. */
export async function announceDeletion(
  db: Pick<Database, 'sql' | 'hasOnlyTransactions'>,
  account: number,
): Promise<boolean> {
  const own = param(String(account))
  const rows = await withAccountsLock(db, tx =>
    ask(
      tx,
      sql`UPDATE account SET deleted_at = date_trunc('milliseconds', now())
      WHERE account_id = ${own}::bigint AND deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM account o WHERE o.account_id <> ${own}::bigint AND o.deleted_at IS NULL)
      RETURNING account_id`,
    ),
  )
  return rows.length > 0
}

/** True if an account is deleted, or purged. Its work under way waits for a restoration. */
export async function isDeleted(db: Reader, account: number): Promise<boolean> {
  const own = param(String(account))
  const live = sql`SELECT 1 AS one FROM account WHERE account_id = ${own}::bigint AND deleted_at IS NULL`
  return (await ask(db, live)).length === 0
}

/** Restores a deleted account. False if its purge has begun, which removes the counter first. */
export async function restoreAccount(db: Transaction, account: number): Promise<boolean> {
  const own = param(String(account))
  const restore = sql`UPDATE account SET deleted_at = NULL
    WHERE account_id = ${own}::bigint AND EXISTS (SELECT 1 FROM counter c WHERE c.account_id = ${own}::bigint)
    RETURNING account_id`
  return (await writeStatement(db, own, restore, true)).length > 0
}

/** Key of the advisory lock for changes of the set of accounts; an arbitrary number. */
const accountsLock = 7_301_040

/** Runs a transaction that changes the set of accounts. */
export function withAccountsLock<T>(
  db: Pick<Database, 'sql' | 'hasOnlyTransactions'>,
  act: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.sql.begin(async tx => {
    const query: Transaction['query'] = (text, params = []) => tx.query(text, params)
    await advisoryLock(tx, accountsLock)
    const write: Transaction['write'] = async (_account, content) => {
      let rows: Awaited<ReturnType<Transaction['write']>> = []
      for (const { text, values } of statementsOf(content)) rows = await query(text, values)
      return rows
    }
    return act({ hasOnlyTransactions: db.hasOnlyTransactions, query, write })
  })
}
