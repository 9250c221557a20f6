/** Deletes what agents may no longer carry out (D147) or exchange (D170): it holds values of records. */
import type { Reader } from '../../records/store.ts'
import { ask, sql } from '../../sql.ts'

export async function forgetExpired(db: Reader, account: number): Promise<void> {
  const own = String(account)
  const statement = sql`WITH codes AS (
  DELETE FROM oauth_code WHERE account_id = ${own}::bigint AND valid_until < now()
)
DELETE FROM agent_change WHERE account_id = ${own}::bigint AND valid_until < now()`
  await ask(db, statement)
}
