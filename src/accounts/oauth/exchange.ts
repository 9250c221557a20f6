/** Exchanges a code for a token (D170), which is one of the service's own. Knows no HTTP. */
import { asDefined } from '../../fields/as-defined.ts'
import type { Transaction } from '../../records/store.ts'
import { workOn } from '../../records/work.ts'
import { ask, sql } from '../../sql.ts'
import type { Callers } from '../callers.ts'
import { createToken } from '../tokens.ts'
import { type Grant, isVerified, redeemCode } from './codes.ts'

export type Exchange = {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly requestId: string
  readonly traceparent: string | null
}

export type Issued = {
  readonly token: string
  readonly scopes: readonly string[]
  /** seconds until it ends; null: it doesn't */
  readonly expiresIn: number | null
}

const daySeconds = 86_400

/**
 * The token of the person who allowed it; null for a code that is not valid, or not this program's. Throws
 * `forbidden` if the person may do less by now than they have allowed.
 */
export async function exchangeCode(
  db: Transaction,
  callers: Callers,
  { code, clientId, redirectUri, verifier, requestId, traceparent }: Exchange,
  now: Date,
): Promise<Issued | null> {
  const used = await redeemCode(db, code)
  if (!used) return null
  const { account, grant } = used
  const isSame = grant.clientId === clientId && grant.redirectUri === redirectUri
  if (!isSame || !isVerified(verifier, grant.challenge)) return null
  const person = await callers.actingFor(account, grant.user)
  if (!person) return null
  const { clientName: name, days } = grant
  const ends = days === null ? null : new Date(now.getTime() + days * daySeconds * 1000)
  const body = { name, scopes: [...grant.scopes], ...(ends ? { expires_at: ends.toISOString() } : {}) }
  // A field that the role locks would be left out, such as the end that the person has chosen.
  const catalog = asDefined(await callers.catalogNow(account, db), 'token')
  const work = workOn(db, { ...person, catalog, requestId, traceparent }, 'token')
  const { id, secret } = await createToken(work, body)
  await nameAgent(db, account, id, grant)
  return { token: secret!, scopes: grant.scopes, expiresIn: days === null ? null : days * daySeconds }
}

async function nameAgent(
  db: Transaction,
  account: number,
  token: number,
  { clientName, clientHost }: Grant,
): Promise<void> {
  const statement = sql`UPDATE token SET agent = ${clientName}::text, agent_host = ${clientHost}::text
WHERE account_id = ${String(account)}::bigint AND id = ${String(token)}::bigint`
  await ask(db, statement)
}
