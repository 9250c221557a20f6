/**
 * The first start (D40): one transaction gives an empty database its account, owner, token and, if asked,
 * sample data. Also the tokens of later starts (D120).
 */
import { randomBytes } from 'node:crypto'
import type { Database } from '../db/open.ts'
import { administers, isValid } from '../records/administrators.ts'
import type { Queryable } from '../records/store.ts'
import { lockAccount } from '../records/write.ts'
import { createAccount } from './create.ts'
import { sampleBegins } from './sample-bodies.ts'
import { hashToken, newToken, parseToken } from './token.ts'
import type { TokenFile, TokenState } from './token-file.ts'

export type FirstStartOptions = {
  readonly now: Date
  readonly sampleData: boolean
  /** DEALWRIGHT_TOKEN: every start makes it valid */
  readonly presetToken?: string
  /** where the token of a first start is kept; nowhere if absent */
  readonly file?: TokenFile
  readonly createSample: (tx: Queryable, account: number, owner: number, now: Date) => Promise<void>
}

export type Started = {
  /** the admin token in clear, if one was made: the database has only its hash */
  readonly token: string | null
  /** the file with a valid token; null without one */
  readonly keptIn: string | null
}

const presetName = 'DEALWRIGHT_TOKEN'

/** Any number: the lock that two processes starting at once share. */
const startLock = 7_301_040

/**
 * Makes the default account if there is none, and makes the token of the environment valid. Throws a
 * StartupError, with nothing made, when the token of a new account can't be kept.
 */
export async function firstStart(db: Database, options: FirstStartOptions): Promise<Started> {
  const { file } = options
  const token = await alone(db, tx => prepareAccount(tx, options))
  // A transaction of its own: it sees what the first one committed, even if this process or another was
  // killed in between.
  const keptIn = file ? await alone(db, tx => file.settle(kept => tokenState(tx, kept))) : null
  return { token, keptIn }
}

function alone<T>(db: Database, act: (tx: Queryable) => Promise<T>): Promise<T> {
  return db.sql.begin(async sql => {
    const query: Queryable['query'] = (text, params = []) => sql.unsafe(text, params, { prepare: true })
    await query('SELECT pg_advisory_xact_lock($1::bigint)', [String(startLock)])
    return act({ query, write: (_account, text, params) => query(text, params) })
  })
}

/** The token that was made; null if no account was made or the token was preset. */
async function prepareAccount(tx: Queryable, options: FirstStartOptions): Promise<string | null> {
  const { now, presetToken, sampleData, file, createSample } = options
  const [first] = await tx.query('SELECT min(account_id)::text AS account FROM account')
  if (first!.account) {
    if (presetToken)
      await makeStartToken(tx, { account: first!.account, name: presetName, token: presetToken, now })
    return null
  }
  const { account, owner } = await createAccount(tx, {
    name: 'Default',
    ownerName: 'Owner',
    ownerEmail: 'owner@example.com',
    ...(sampleData ? { at: sampleBegins(now) } : {}),
  })
  const token = presetToken ?? newToken(account, randomBytes)
  if (!presetToken) await file?.prepare(token)
  await makeStartToken(tx, {
    account: String(account),
    name: presetToken ? presetName : 'First start',
    token,
    now,
  })
  if (sampleData) await createSample(tx, account, owner, now)
  return presetToken ? null : token
}

type StartToken = {
  readonly account: string
  readonly name: string
  readonly token: string
  readonly now: Date
}

/**
 * Makes a token of a start valid, with the scope admin and without an end. Ends every other token that a
 * start has made (D120). The token acts for a user who administers the account. If there is none, it acts for
 * the owner or, if the owner was deleted, for another live user.
 */
async function makeStartToken(tx: Queryable, { account, name, token, now }: StartToken): Promise<void> {
  const user = `(SELECT u.id FROM "user" u WHERE u.account_id = $1::bigint ORDER BY u.deleted_at IS NOT NULL, (${administers('u')}) DESC, u.id LIMIT 1)`
  await tx.query(lockAccount, [account])
  await tx.query(
    'WITH ended AS (UPDATE token SET revoked_at = $4::timestamptz WHERE account_id = $1::bigint AND made_at_start AND hash <> $3::text ' +
      'AND revoked_at IS NULL), ' +
      `known AS (UPDATE token SET name = $2::text, scopes = '{admin}', user_id = ${user}, expires_at = NULL, revoked_at = NULL, ` +
      'made_at_start = true WHERE account_id = $1::bigint AND hash = $3::text RETURNING id), ' +
      'counted AS (UPDATE counter SET last_id = last_id + 1 WHERE account_id = $1::bigint AND NOT EXISTS (SELECT FROM known) RETURNING last_id) ' +
      'INSERT INTO token (account_id, id, name, hash, scopes, user_id, created_at, made_at_start) ' +
      `SELECT $1::bigint, last_id, $2::text, $3::text, '{admin}', ${user}, $4::timestamptz, true FROM counted`,
    [account, name, hashToken(token), now.toISOString()],
  )
}

async function tokenState(tx: Queryable, token: string): Promise<TokenState> {
  const account = parseToken(token)?.account
  if (account === undefined) return 'unknown'
  const [row] = await tx.query(
    `SELECT (${isValid('t')})::text AS is_valid FROM token t WHERE t.account_id = $1::bigint AND t.hash = $2::text`,
    [String(account), hashToken(token)],
  )
  if (!row) return 'unknown'
  return row.is_valid === 'true' ? 'valid' : 'ended'
}
