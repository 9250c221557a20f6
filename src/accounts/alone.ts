/** Transactions that create, delete and restore accounts, serialized across all processes. */
import type { Database } from '../db/open.ts'
import type { Transaction } from '../records/store.ts'
import { ask, sql } from '../sql.ts'

/** Key of the advisory lock for changes of the set of accounts; an arbitrary number. */
const accountsLock = 7_301_040

export function alone<T>(db: Pick<Database, 'sql'>, act: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.sql.begin(async tx => {
    const query: Transaction['query'] = (text, params = []) => tx.query(text, params, { prepare: true })
    await ask({ query }, sql`SELECT pg_advisory_xact_lock(${String(accountsLock)}::bigint)`)
    const write: Transaction['write'] = async (account, text, params, first) => {
      if (first) await query(first, [account])
      return query(text, params)
    }
    return act({ query, write })
  })
}
