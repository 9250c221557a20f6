/** Retention of deliveries (D72): thirty days in the log; none after the webhook's deletion. */
import type { Transaction } from '../../records/store.ts'
import { ask, param, sql } from '../../sql.ts'
import { forget } from './progress.ts'

const keptDays = 30
const batch = 2000

/** Purges an account's outdated deliveries, except waiting ones. */
export async function cleanDeliveries(db: Transaction, account: number, now: Date): Promise<void> {
  const own = param(String(account))
  const oldest = param(new Date(now.getTime() - keptDays * 86_400_000).toISOString())
  for (let count = batch; count === batch; ) {
    const gone = await ask(
      db,
      sql`DELETE FROM webhook_delivery d WHERE d.account_id = ${own}::bigint AND d.ctid = ANY(ARRAY(
  SELECT x.ctid FROM webhook_delivery x
  WHERE x.account_id = ${own}::bigint AND x.created_at < ${oldest}::timestamptz AND x.state <> 'waiting'
  LIMIT ${sql.integer(batch)}))
RETURNING 1 AS one`,
    )
    count = gone.length
  }
  const left = await ask(
    db,
    sql`SELECT p.webhook::text AS webhook FROM webhook_progress p
WHERE p.account_id = ${own}::bigint AND NOT EXISTS (
  SELECT 1 FROM webhook w WHERE w.account_id = p.account_id AND w.id = p.webhook AND w.deleted_at IS NULL)`,
  )
  for (const { webhook } of left) while (await forget(db, { account, id: Number(webhook) }, batch));
}
