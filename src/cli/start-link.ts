/** The link that a start on loopback shows: it signs this machine's user in, without password (D61, D133). */
import { createLink } from '../accounts/sign-in/links.ts'
import type { Transaction } from '../records/store.ts'
import { administers } from '../resources/user-access.ts'
import { ask, param, sql } from '../sql.ts'
import { operatorOf } from './account-selector.ts'

const firstAccount = 1

/**
 * The secret of a link for the first administrator of the first account. It can be used once, within ten
 * minutes. Null if there is no administrator, or the account was deleted.
 */
export async function startLink(db: Transaction): Promise<string | null> {
  const account = param(String(firstAccount))
  const statement = sql`SELECT u.id::text AS id FROM "user" u JOIN account a ON a.account_id = u.account_id
      WHERE u.account_id = ${account}::bigint AND u.deleted_at IS NULL AND a.deleted_at IS NULL
        AND (${administers(account)}) ORDER BY u.id LIMIT 1`
  const [found] = await ask(db, statement)
  if (!found) return null
  const link = await createLink(db, await operatorOf(db, firstAccount), Number(found.id), 'sign_in')
  return link?.secret ?? null
}
