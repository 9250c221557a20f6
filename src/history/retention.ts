/** Retention of events, unless they stay for ever (D71). Those that stay have no gaps. */
import type { Transaction } from '../records/store.ts'
import { lockOnly, writeStatement } from '../records/write/protocol.ts'
import { param, sql } from '../sql.ts'

const batch = 5000

/** Deletes an account's events from before `before`, the oldest first; returns their number. */
export async function forgetOldEvents(db: Transaction, account: number, before: Date): Promise<number> {
  let forgotten = 0
  for (;;) {
    const count = await forget(db, account, before)
    forgotten += count
    if (count < batch) return forgotten
  }
}

async function forget(db: Transaction, account: number, before: Date): Promise<number> {
  const own = param(String(account))
  const statement = sql`WITH ${lockOnly(own)}
DELETE FROM event e USING locked
WHERE e.account_id = ${own}::bigint AND e.seq IN (
  SELECT seq FROM event
  WHERE account_id = ${own}::bigint AND at < ${before.toISOString()}::timestamptz
  ORDER BY seq LIMIT ${sql.integer(batch)})
RETURNING 1`
  return (await writeStatement(db, own, statement)).length
}
