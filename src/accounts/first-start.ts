/**
 * The first start (D40): one transaction gives an empty database its account, owner, token and, on request,
 * sample data. Also the tokens of later starts (D120).
 */
import type { Database } from '../db/open.ts'
import { StartupError } from '../db/startup-error.ts'
import { asDefined } from '../fields/as-defined.ts'
import type { Catalog } from '../fields/catalog.ts'
import { removeRecord } from '../records/remove.ts'
import type { Transaction } from '../records/store.ts'
import { workOn } from '../records/work.ts'
import { lockAccount, reserveIds } from '../records/write/protocol.ts'
import { updateRecord } from '../records/write/save.ts'
import { resources } from '../resources/resources.ts'
import { administers, isValid } from '../resources/user-access.ts'
import { ask, type Param, param, sql } from '../sql.ts'
import { allAccounts, withAccountsLock } from './accounts.ts'
import { loadCatalog } from './callers.ts'
import { createAccount } from './create.ts'
import { administratorRole } from './defaults.ts'
import { sampleBegins } from './sample/bodies.ts'
import { timeZone as knownTimeZone } from './settings.ts'
import { hashToken, newSecret, parseToken } from './token.ts'
import type { TokenFile, TokenState } from './token-file.ts'
import { createToken } from './tokens.ts'

export type FirstStartOptions = {
  readonly now: Date
  readonly sampleData: boolean
  /** settings of the new account, from TIME_ZONE and BASE_CURRENCY; default: UTC and USD */
  readonly timeZone?: string
  readonly baseCurrency?: string
  /** DEALWRIGHT_TOKEN: every start makes it valid */
  readonly presetToken?: string
  /** file for the token of a first start; absent: none */
  readonly file?: TokenFile
  readonly createSample: (tx: Transaction, account: number, owner: number, now: Date) => Promise<void>
}

export type FirstStartResult = {
  /** admin token in clear text, if one was created: the database has only its hash */
  readonly token: string | null
  /** file with a valid token; null without one */
  readonly keptIn: string | null
  /** set if the account of DEALWRIGHT_TOKEN was deleted, so that the token is not valid */
  readonly isPresetInvalid?: true
  /** set if a node of the cluster is away, so that the start changed nothing (D178) */
  readonly isNodeAway?: true
}

const presetName = 'DEALWRIGHT_TOKEN'
/** The account that the first start creates: DEALWRIGHT_TOKEN is one of its tokens (config.ts). */
const presetAccount = '1'

/**
 * Creates the default account if there is none, and makes DEALWRIGHT_TOKEN valid. Throws a StartupError, with
 * nothing created, if the token of a new account can't be written.
 */
export async function firstStart(db: Database, options: FirstStartOptions): Promise<FirstStartResult> {
  const { file } = options
  // There are accounts, and the node may have that of the token.
  if (db.isDistributed && (await allAccounts(db)).away) return { token: null, keptIn: null, isNodeAway: true }
  const prepared = await withAccountsLock(db, tx => prepareAccount(tx, options))
  // A transaction of its own: it sees the first one's commit, even if a process was killed in between.
  const keptIn = file ? await withAccountsLock(db, tx => file.reconcile(kept => tokenState(tx, kept))) : null
  return { ...prepared, keptIn }
}

/** Creates the account. Returns its token; null if no account was created or the token was preset. */
async function prepareAccount(
  tx: Transaction,
  options: FirstStartOptions,
): Promise<Omit<FirstStartResult, 'keptIn'>> {
  const { now, presetToken, sampleData, file, createSample } = options
  const [known] = await ask(
    tx,
    sql`SELECT count(*)::text AS count,
        coalesce(bool_or(account_id = ${presetAccount}::bigint AND deleted_at IS NULL), false)::text AS has_preset
      FROM account`,
  )
  if (known!.count !== '0') {
    if (!presetToken) return { token: null }
    if (known!.has_preset !== 'true') return { token: null, isPresetInvalid: true }
    await makeStartToken(tx, { account: presetAccount, name: presetName, token: presetToken })
    return { token: null }
  }
  const { account, owner } = await createAccount(tx, {
    name: 'Default',
    ownerName: 'Owner',
    ownerEmail: 'owner@example.com',
    ...(await settingsOfStart(tx, options)),
    ...(sampleData ? { at: sampleBegins(now) } : {}),
  })
  const token = presetToken ?? newSecret('token', account)
  if (!presetToken) await file?.prepare(token)
  // The sample's history comes before the token: an account's moments never go back (D123). The documentation
  // names records by ids, so one id is reserved in place of a token's.
  if (sampleData) {
    await reserveIds(tx, account, 'last_id', 1)
    await createSample(tx, account, owner, now)
  }
  await makeStartToken(tx, {
    account: String(account),
    name: presetToken ? presetName : 'First start',
    token,
  })
  return { token: presetToken ? null : token }
}

/** The settings of the new account. Throws a StartupError for an unknown time zone. */
async function settingsOfStart(tx: Transaction, { timeZone, baseCurrency }: FirstStartOptions) {
  const known = timeZone === undefined ? undefined : await knownTimeZone(tx, timeZone)
  if (known === null) throw new StartupError(`The database has no time zone "${timeZone}" (TIME_ZONE).`)
  return { ...(known ? { timeZone: known } : {}), ...(baseCurrency ? { baseCurrency } : {}) }
}

type StartToken = { readonly account: string; readonly name: string; readonly token: string }

/**
 * Makes a start's token valid, with the scope admin and without expiry. Revokes every other token that a
 * start has created (D120). The token acts for an administrator of the account.
 */
async function makeStartToken(tx: Transaction, { account, name, token }: StartToken): Promise<void> {
  const own = param(account)
  await ask(tx, lockAccount(own))
  const catalog = asDefined(await loadCatalog(tx, resources, Number(account)), 'user', 'token')
  const work = workOn(tx, { catalog, actor: await administratorOf(tx, catalog, own) }, 'token')
  const rows = await ask(
    tx,
    sql`SELECT t.id::text AS id, (s.hash IS NOT NULL AND t.scopes ? 'admin' AND t.expires_at IS NULL
        AND EXISTS (
          SELECT 1 FROM "user" u
          WHERE u.account_id = ${own}::bigint AND u.id = t."user" AND ${administers(own)}))::text AS is_it
      FROM token t LEFT JOIN token_secret s ON s.account_id = ${own}::bigint AND s.token = t.id
        AND s.hash = ${hashToken(token)}::text AND s.valid_until IS NULL
      WHERE t.account_id = ${own}::bigint AND t.deleted_at IS NULL AND (t.made_at_start OR s.hash IS NOT NULL)`,
  )
  for (const { id } of rows.filter(({ is_it }) => is_it !== 'true')) await removeRecord(work, Number(id))
  if (rows.some(({ is_it }) => is_it === 'true')) return
  const { id } = await createToken(work, { name, scopes: ['admin'] }, token)
  await ask(
    tx,
    sql`UPDATE token SET made_at_start = true
      WHERE account_id = ${own}::bigint AND id = ${String(id)}::bigint`,
  )
}

/** An administrator of the account. If there is none, the first user becomes one. */
async function administratorOf(tx: Transaction, catalog: Catalog, account: Param): Promise<number> {
  const [found] = await ask(
    tx,
    sql`SELECT u.id::text AS id, (${administers(account)})::text AS administers FROM "user" u
      WHERE u.account_id = ${account}::bigint AND u.deleted_at IS NULL
      ORDER BY (${administers(account)}) DESC, u.id LIMIT 1`,
  )
  if (!found) throw new StartupError('The account has no user for whom a token could act.')
  const id = Number(found.id)
  const body = { role: administratorRole, is_active: 'Yes' }
  if (found.administers !== 'true') await updateRecord(workOn(tx, { catalog, actor: id }, 'user'), id, body)
  return id
}

async function tokenState(tx: Transaction, token: string): Promise<TokenState> {
  const account = parseToken(token)?.account
  if (account === undefined) return 'unknown'
  const [row] = await ask(
    tx,
    sql`SELECT (${isValid})::text AS is_valid
      FROM token_secret s JOIN token t ON t.account_id = s.account_id AND t.id = s.token
        JOIN account a ON a.account_id = s.account_id AND a.deleted_at IS NULL
      WHERE s.account_id = ${String(account)}::bigint AND s.hash = ${hashToken(token)}::text
        AND (s.valid_until IS NULL OR s.valid_until > now())`,
  )
  if (!row) return 'unknown'
  return row.is_valid === 'true' ? 'valid' : 'ended'
}
