/**
 * The purge of a deleted account (D67): all its rows are deleted, whatever happens meanwhile; others' rows
 * stay.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { announceDeletion, restoreAccount, withAccountsLock } from '../../src/accounts/accounts.ts'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { createSample } from '../../src/accounts/sample/sample.ts'
import { createLink } from '../../src/accounts/sign-in/links.ts'
import { openDatabase } from '../../src/db/open.ts'
import { resources } from '../../src/resources/resources.ts'
import { BackgroundJobs } from '../../src/work/background/background-jobs.ts'
import { purgeAccount, purgeState } from '../../src/work/background/purge-account.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase } from '../support/postgres.ts'
import { startService } from '../support/service.ts'

const { db } = await startService({ sampleData: false })
const day = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * day)

const tables = (
  await db.query(
    `SELECT c.relname AS name FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_migration'`,
  )
).map(row => row.name!)

/** table → number of the account's rows; tables without one are left out */
async function rowsOf(account: number): Promise<{ [table: string]: number }> {
  const found: { [table: string]: number } = {}
  for (const table of tables) {
    const [row] = await db.query(
      `SELECT count(*)::text AS count FROM "${table}" WHERE account_id = $1::bigint`,
      [String(account)],
    )
    if (row!.count !== '0') found[table] = Number(row!.count)
  }
  return found
}

test('who changes the set of accounts waits for others who do, for as long as that takes', async () => {
  if (db.engine === 'embedded') return
  const url = await createDatabase(process.env.TEST_DATABASE_URL!)
  const [one, other] = await Promise.all(
    [10_000, 200].map(statementTimeoutMs => openDatabase({ url, statementTimeoutMs, log() {} })),
  )
  const order: string[] = []
  const isTaken = Promise.withResolvers<void>()
  const first = withAccountsLock(one!, async () => {
    isTaken.resolve()
    await delay(1000)
    order.push('first')
  })
  await isTaken.promise
  await withAccountsLock(other!, async () => order.push('second'))
  await first
  assert.deepEqual(order, ['first', 'second'])
  for (const opened of [one!, other!]) await opened.close()
})

async function make(): Promise<number> {
  const { account, owner } = await withAccountsLock(db, async tx => {
    const made = await createAccount(tx, { name: 'Gone', ownerName: 'Bo', ownerEmail: 'bo@example.com' })
    await createSample(tx, made.account, made.owner, new Date())
    return made
  })
  const catalog = await loadCatalog(db, resources, account)
  await createLink(db, { catalog, actor: owner }, owner, 'invitation')
  for (const statement of [
    `INSERT INTO password (account_id, "user", hash, changed_at) VALUES ($1::bigint, 1, 'x', now())`,
    `INSERT INTO session (account_id, id, hash, "user", created_at, last_used_at)
     VALUES ($1::bigint, 9999, 'x', 1, now(), now())`,
    `UPDATE field SET is_indexed = true WHERE account_id = $1::bigint AND id = (
       SELECT min(f.id) FROM field f WHERE f.account_id = $1::bigint AND f.type = 'SINGLE_NUMBER')`,
  ])
    await db.query(statement, [String(account)])
  return account
}

const indexes = async (account: number) =>
  (await db.query('SELECT relname FROM pg_class WHERE relname LIKE $1::text', [`custom\\_${account}\\_%`]))
    .length

/** Runs the jobs of a process whose clock is that many days ahead, until `isDone`. */
async function jobs(days: number, isDone: (said: readonly string[]) => Promise<boolean>): Promise<string[]> {
  const said: string[] = []
  const log = (line: string) => void said.push(line)
  const running = new BackgroundJobs({ db, resources, now: () => inDays(days), log, retentionDays: 30 })
  await eventually(() => isDone(said), 'an end of the jobs', 50)
  await running.stop()
  return said
}

test('kept for thirty days, then nothing is left in any table; others keep what they have', async () => {
  const account = await make()
  assert.equal(account, 2)
  const had = await rowsOf(2)
  for (const name of ['account', 'counter', 'event', 'deal', 'field', 'password', 'session', 'sign_in_link'])
    assert.ok(had[name], name)
  await jobs(0, async () => (await indexes(2)) > 0)
  const neighbour = await rowsOf(1)
  assert.ok(await announceDeletion(db, 2))
  assert.equal(await purgeState(db, 2, inDays(-1)), 'kept')
  const said = await jobs(31, async lines => lines.length > 0)
  assert.match(said[0]!, /^Purged account 2, which was deleted: \d+ rows\.$/)
  assert.equal(
    said[0],
    `Purged account 2, which was deleted: ${Object.values(had).reduce((a, b) => a + b)} rows.`,
  )
  assert.deepEqual(await rowsOf(2), {})
  assert.equal(await indexes(2), 0)
  assert.deepEqual(await rowsOf(1), neighbour)
  assert.equal(await purgeState(db, 2, new Date()), null)
})

test('a purge that was cut short can’t be taken back, and is finished', async () => {
  const before = await db.query('SELECT catalog_version::text AS version FROM account')
  const account = await make()
  // The id is reused, with versions that no process has cached.
  assert.equal(account, 2)
  const { version } = await loadCatalog(db, resources, 2)
  assert.ok(Number(version) > Math.max(...before.map(row => Number(row.version))) + 1_000_000)
  await announceDeletion(db, 2)
  assert.equal(await purgeAccount(db, 2, inDays(-1), () => false), null, 'not due')
  assert.ok(await restoreAccount(db, 2))
  await announceDeletion(db, 2)
  let steps = 0
  assert.equal(await purgeAccount(db, 2, inDays(1), () => ++steps > 3), null)
  assert.ok((await rowsOf(2)).account)
  assert.equal(await restoreAccount(db, 2), false)
  // Also if the retention of deleted records is longer since.
  assert.equal(await purgeState(db, 2, inDays(-1000)), 'due')
  const running = [0, 1].map(() => purgeAccount(db, 2, inDays(-1000), () => false))
  assert.ok((await Promise.all(running)).every(count => count !== null))
  assert.deepEqual(await rowsOf(2), {})
})
