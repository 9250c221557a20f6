/**
 * The first start (D40): one transaction gives an empty database its account, owner, token and, if asked,
 * sample data. Also the tokens of later starts (D120).
 */
import { randomBytes } from 'node:crypto'
import type { Database } from '../db/open.ts'
import { administers, isValid } from '../records/administrators.ts'
import type { Queryable } from '../records/store.ts'
import { lockAccount } from '../records/write.ts'
import { ask, param, sql } from '../sql.ts'
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
  return db.sql.begin(async tx => {
    const query: Queryable['query'] = (text, params = []) => tx.unsafe(text, params, { prepare: true })
    await ask({ query }, sql`SELECT pg_advisory_xact_lock(${String(startLock)}::bigint)`)
    return act({ query, write: (_account, text, params) => query(text, params) })
  })
}

/** The token that was made; null if no account was made or the token was preset. */
async function prepareAccount(tx: Queryable, options: FirstStartOptions): Promise<string | null> {
  const { now, presetToken, sampleData, file, createSample } = options
  const [first] = await ask(tx, sql`SELECT min(account_id)::text AS account FROM account`)
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
  const [own, named] = [param(account), param(name)]
  const [hash, madeAt] = [param(hashToken(token)), param(now.toISOString())]
  const user = sql`(
    SELECT u.id FROM "user" u WHERE u.account_id = ${own}::bigint
    ORDER BY u.deleted_at IS NOT NULL, (${administers(own)}) DESC, u.id LIMIT 1)`
  await ask(tx, lockAccount(own))
  await ask(
    tx,
    sql`WITH ended AS (
  UPDATE token SET revoked_at = ${madeAt}::timestamptz
  WHERE account_id = ${own}::bigint AND made_at_start AND hash <> ${hash}::text AND revoked_at IS NULL
),
known AS (
  UPDATE token SET name = ${named}::text, scopes = '{admin}', user_id = ${user}, expires_at = NULL,
    revoked_at = NULL, made_at_start = true
  WHERE account_id = ${own}::bigint AND hash = ${hash}::text RETURNING id
),
counted AS (
  UPDATE counter SET last_id = last_id + 1
  WHERE account_id = ${own}::bigint AND NOT EXISTS (SELECT 1 FROM known) RETURNING last_id
)
INSERT INTO token (account_id, id, name, hash, scopes, user_id, created_at, made_at_start)
SELECT ${own}::bigint, last_id, ${named}::text, ${hash}::text, '{admin}', ${user},
  ${madeAt}::timestamptz, true
FROM counted`,
  )
}

async function tokenState(tx: Queryable, token: string): Promise<TokenState> {
  const account = parseToken(token)?.account
  if (account === undefined) return 'unknown'
  const [row] = await ask(
    tx,
    sql`SELECT (${isValid})::text AS is_valid
      FROM token t WHERE t.account_id = ${String(account)}::bigint AND t.hash = ${hashToken(token)}::text`,
  )
  if (!row) return 'unknown'
  return row.is_valid === 'true' ? 'valid' : 'ended'
}
