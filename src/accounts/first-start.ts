/** The first start (D40): an empty database gets its account, owner, token and, if asked, sample data; all in one transaction. */
import { randomBytes } from 'node:crypto'
import type { Database } from '../db/open.ts'
import type { Queryable } from '../records/store.ts'
import { createAccount, createToken, type NewToken, revokeOthers } from './create.ts'
import { newToken } from './token.ts'

export type FirstStartOptions = {
  readonly now: Date
  readonly sampleData: boolean
  /** DEALWRIGHT_TOKEN: made sure of at every start */
  readonly presetToken?: string
  readonly createSample: (tx: Queryable, account: number, owner: number, now: Date) => Promise<void>
}

const presetName = 'DEALWRIGHT_TOKEN'

/** Any number: the lock that two processes starting at once share. */
const startLock = 7_301_040

/**
 * Makes the default account if there is none. Answers the admin token in clear when one was made: only its hash is kept.
 */
export async function firstStart(db: Database, options: FirstStartOptions): Promise<{ token: string | null }> {
  const { now, presetToken } = options
  return db.sql.begin(async sql => {
    const query: Queryable['query'] = (text, params = []) => sql.unsafe(text, params as (string | null)[], { prepare: true })
    const tx: Queryable = { query, write: (_account, text, params) => query(text, params) }
    await tx.query('SELECT pg_advisory_xact_lock($1::bigint)', [String(startLock)])
    const [first] = await tx.query('SELECT min(account_id)::text AS account FROM account')
    const admin = { user: 1, scopes: ['admin'], now }
    if (first!.account) {
      if (presetToken) await presetAdmin(tx, { ...admin, account: Number(first!.account), name: presetName, token: presetToken })
      return { token: null }
    }
    const { account, owner } = await createAccount(tx, {
      name: 'Default',
      ownerName: 'Owner',
      ownerEmail: 'owner@example.com',
      now,
    })
    const token = presetToken ?? newToken(account, randomBytes)
    await createToken(tx, { ...admin, account, user: owner, name: presetToken ? presetName : 'First start', token })
    if (options.sampleData) await options.createSample(tx, account, owner, now)
    return { token: presetToken ? null : token }
  })
}

/** The token of the environment is the only one of its name: a start with another one ends the one before. */
async function presetAdmin(tx: Queryable, preset: NewToken): Promise<void> {
  await createToken(tx, preset)
  await revokeOthers(tx, preset)
}
