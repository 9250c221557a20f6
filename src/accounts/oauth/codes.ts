/**
 * Authorization codes (D170): a person has allowed a program to act for them, and the program exchanges the
 * code for a token, once and within two minutes. Only hashes are stored. Knows no HTTP.
 */
import { hash } from 'node:crypto'
import type { Reader } from '../../records/store.ts'
import { ask, sql } from '../../sql.ts'
import { accountOf, hashToken, newSecret } from '../token.ts'

/** The access that a person has allowed. */
export type Grant = {
  readonly user: number
  readonly clientId: string
  readonly clientName: string
  /** the host that vouches for the name; null: nobody does */
  readonly clientHost: string | null
  readonly redirectUri: string
  readonly challenge: string
  readonly scopes: readonly string[]
  /** days until the token ends; null: it doesn't */
  readonly days: number | null
}

const codeSeconds = 120

export async function createCode(db: Reader, account: number, grant: Grant): Promise<string> {
  const own = String(account)
  const secret = newSecret('code', account)
  const statement = sql`INSERT INTO oauth_code (account_id, hash, "grant", valid_until)
VALUES (${own}::bigint, ${hashToken(secret)}::text, ${JSON.stringify(grant)}::jsonb,
  now() + make_interval(secs => ${sql.integer(codeSeconds)}))`
  await ask(db, statement)
  return secret
}

/** Uses up a code; null if it is unknown, used or over. A code that is tried wrongly is used up, too. */
export async function redeemCode(
  db: Reader,
  code: string,
): Promise<{ readonly account: number; readonly grant: Grant } | null> {
  const account = accountOf('code', code)
  if (account === null) return null
  const statement = sql`WITH used AS (
  DELETE FROM oauth_code WHERE account_id = ${String(account)}::bigint AND hash = ${hashToken(code)}::text
  RETURNING "grant", valid_until)
SELECT "grant"::text AS granted, (valid_until > now())::text AS is_valid FROM used`
  const [row] = await ask(db, statement)
  if (row?.is_valid !== 'true') return null
  return { account, grant: JSON.parse(row.granted!) as Grant }
}

/** True if the verifier belongs to the challenge (RFC 7636, S256). */
export function isVerified(verifier: string, challenge: string): boolean {
  return /^[\w.~-]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge
}

/** True for a challenge of the method S256. */
export function isChallenge(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}
