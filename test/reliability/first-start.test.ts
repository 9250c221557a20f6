/**
 * The first start and its token (D68, D119, D120): whatever is killed or refused at any moment, an existing
 * account has a token that is stored.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { announceDeletion, restoreAccount, withAccountsLock } from '../../src/accounts/accounts.ts'
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createAccount } from '../../src/accounts/create.ts'
import { type FirstStartResult, firstStart } from '../../src/accounts/first-start.ts'
import { hashToken, newSecret } from '../../src/accounts/token.ts'
import { tokenFile } from '../../src/accounts/token-file.ts'
import { createField, updateField } from '../../src/configuration/administer.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { workOn } from '../../src/records/work.ts'
import { createRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { KeyedMutex } from '../../src/waiting/keyed-mutex.ts'
import { byQueries } from '../support/by-queries.ts'
import { answered } from '../support/eventually.ts'
import { createDatabase } from '../support/postgres.ts'
import { migratedDatabase, migratedDirectory } from '../support/prepared.ts'
import { timeouts } from '../support/timeouts.ts'
import { createToken } from '../support/tokens.ts'

const isServer = process.env.TEST_ENGINE === 'postgres'
const home = mkdtempSync(join(tmpdir(), 'dealwright-first-'))
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

type Place = { readonly dataDir: string; readonly url: string }
let places = 0

/** A folder of its own, which does not exist yet. */
const newPlace = (): Place => ({ dataDir: join(home, `place${++places}`), url: '' })

/** With a database of its own on a server. */
async function place(): Promise<Place> {
  return { ...newPlace(), ...(isServer && { url: await createDatabase(process.env.TEST_DATABASE_URL!) }) }
}

/** With a database that has its tables, and no account. */
async function migratedPlace(): Promise<Place> {
  const where = newPlace()
  if (isServer) return { ...where, ...(await migratedDatabase()) }
  migratedDirectory(where.dataDir)
  return where
}

/** Runs the service until it listens or ends. */
async function start(
  { dataDir, url }: Place,
  env: Record<string, string> = {},
  args: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...args, 'bin/dealwright.js'], {
    env: {
      ...process.env,
      DATABASE_URL: url,
      PORT: '0',
      DATA_DIR: dataDir,
      SAMPLE_DATA: '0',
      DEALWRIGHT_TOKEN: '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let [out, err] = ['', '']
  child.stderr!.setEncoding('utf8').on('data', text => (err += text))
  const closed = once(child, 'close')
  const ready = new Promise<void>(resolve =>
    child.stdout!.setEncoding('utf8').on('data', text => {
      out += text
      if (/Try {5}.*\n/.test(out)) resolve()
    }),
  )
  await Promise.race([ready, closed])
  return {
    address: /ready at (\S+)/.exec(out)?.[1] ?? null,
    said: () => ({ out, err, all: out + err, code: child.exitCode }),
    /** the status of a request with the token */
    status: async (token: string) => {
      const address = /ready at (\S+)/.exec(out)![1]
      const headers = { authorization: `Bearer ${token}` }
      const reply = await answered(() => fetch(`${address}/rest/api/v1/user/1`, { headers }))
      await reply.text()
      return reply.status
    },
    async stop() {
      child.kill('SIGTERM')
      await closed
    },
  }
}

const kept = ({ dataDir }: Place) => join(dataDir, 'admin-token')
const read = (path: string) => readFileSync(path, 'utf8').trim()
const tokenFiles = ({ dataDir }: Place) =>
  readdirSync(dataDir)
    .filter(name => name.startsWith('admin-token'))
    .sort()

test('killed at every step, the next start has a token that is kept', async context => {
  const outcomes: string[] = []
  for (let count = Number.POSITIVE_INFINITY; outcomes.length < count; ) {
    // Making the tables takes seconds, and this test kills nothing meanwhile.
    const where = await migratedPlace()
    const step = `${outcomes.length}`
    const killed = await start(where, { KILL_AT: step }, ['--import', './test/support/kill-at.ts'])
    await killed.stop()
    count = Number(/(\d+) steps/.exec(killed.said().out)?.[1] ?? count)
    await withDatabase(where, async db => {
      await migrate(db)
      const isThere = (await db.query('SELECT FROM account')).length > 0
      const { token, keptIn } = await begin(db, where.dataDir)
      assert.equal(token === null, isThere)
      assert.deepEqual(tokenFiles(where), ['admin-token'], step)
      assert.equal(keptIn, kept(where))
      assert.ok(await isValid(db, read(keptIn)), step)
      assert.equal(statSync(keptIn).mode & 0o777, 0o600)
      outcomes.push(isThere ? 'an account' : 'none')
    })
  }
  context.diagnostic(outcomes.join(', '))
  assert.deepEqual([...new Set(outcomes)], ['none', 'an account'])
  assert.ok(outcomes.length >= 10)
})

test('a data directory that cannot be used: one line, no account; the next start makes it', async () => {
  const where = await place()
  writeFileSync(where.dataDir, 'a file')
  const refused = await start(where)
  await refused.stop()
  const { out, err, code } = refused.said()
  assert.deepEqual([out, code], ['', 1])
  assert.match(err, /^[^\n]*place\d+[^\n]* can't be used: [^\n]+\n$/)
  assert.equal(read(where.dataDir), 'a file')
  rmSync(where.dataDir)
  const next = await start(where)
  assert.match(next.said().out, /first start/)
  assert.equal(await next.status(read(kept(where))), 200)
  await next.stop()
})

test('a token is shown by the start that made it, a preset one by none', async () => {
  const where = await migratedPlace()
  const first = await start(where)
  const token = read(kept(where))
  assert.ok(first.said().out.includes(token))
  assert.ok(first.said().out.includes(`kept in ${kept(where)}\n`))
  await first.stop()
  const second = await start(where, { npm_execpath: '/npm-cli.js' })
  assert.ok(!second.said().all.includes(token))
  assert.ok(second.said().out.includes(`kept in ${kept(where)}\n`))
  assert.match(second.said().out, /Lost\? {3}"npx dealwright token create/)
  await second.stop()
  const preset = 'preset-token-of-a-start-preset-token'
  const third = await start(where, { DEALWRIGHT_TOKEN: preset, npm_execpath: '' })
  assert.match(third.said().out, /Lost\? {3}"node \/\S+\/bin\/dealwright\.js token create/)
  assert.ok(!third.said().all.includes(preset) && !third.said().all.includes(token))
  assert.match(third.said().err, /has ended; the file was removed/)
  assert.deepEqual([await third.status(preset), await third.status(token)], [200, 401])
  await third.stop()
})

test('two first starts at once on one server: one token, kept where it was made', {
  skip: !isServer,
}, async () => {
  for (const isShared of [true, false]) {
    const first = await place()
    const second = isShared ? first : { ...first, dataDir: `${first.dataDir}-other` }
    const both = await Promise.all([start(first), start(second)])
    const makers = both.filter(one => /first start/.test(one.said().out))
    assert.equal(makers.length, 1)
    const files = [...new Set([first, second])].flatMap(({ dataDir }) =>
      existsSync(dataDir) ? tokenFiles({ dataDir, url: '' }).map(name => join(dataDir, name)) : [],
    )
    assert.equal(files.length, 1)
    assert.ok(makers[0]!.said().out.includes(`kept in ${files[0]}\n`))
    for (const one of both) assert.equal(await one.status(read(files[0]!)), 200)
    await Promise.all(both.map(one => one.stop()))
  }
})

async function withDatabase<T>({ dataDir, url }: Place, act: (db: Database) => Promise<T>): Promise<T> {
  const db = await openDatabase({ ...(url ? { url } : { dataDir }), ...timeouts(), log: () => {} })
  return act(db).finally(() => db.close())
}

/** A database that is closed with the test. */
async function database(t: TestContext): Promise<Database> {
  const db = await openDatabase({ ...(await migratedDatabase()), ...timeouts(), log: () => {} })
  t.after(() => db.close())
  return db
}

/** The token part of a start of the service on an open database; `said` collects its output. */
const begin = (
  db: Database,
  dataDir: string,
  presetToken?: string,
  said: string[] = [],
): Promise<FirstStartResult> =>
  firstStart(db, {
    now: new Date(),
    sampleData: false,
    ...(presetToken && { presetToken }),
    file: tokenFile(dataDir, line => void said.push(line)),
    createSample: async () => {},
  })

const isValid = async (db: Database, token: string) =>
  (
    await db.query(
      `SELECT t.deleted_at IS NULL AS valid FROM token t
       JOIN token_secret s ON s.account_id = t.account_id AND s.token = t.id
       WHERE s.account_id = 1 AND s.hash = $1::text`,
      [hashToken(token)],
    )
  )[0]?.valid === 't'

const [presetA, presetB] = ['preset-a'.padEnd(40, 'a'), 'preset-b'.padEnd(40, 'b')]

test('a start with DEALWRIGHT_TOKEN ends every token that a start has made, and no other', async t => {
  const db = await database(t)
  const { dataDir } = await place()
  const said: string[] = []
  const { token: first, keptIn } = await begin(db, dataDir)
  assert.equal(keptIn, join(dataDir, 'admin-token'))
  assert.equal(read(keptIn!), first)
  // Tokens that others made later, under the names that starts use.
  const others = ['First start', 'DEALWRIGHT_TOKEN'].map(name => ({ name, token: newSecret('token', 1) }))
  const tx = byQueries(db)
  for (const other of others) await createToken(tx, { account: 1, user: 1, scopes: ['admin'], ...other })
  const valid = async () => {
    const all = [first!, presetA!, presetB!, ...others.map(other => other.token)]
    return Promise.all(all.map(token => isValid(db, token)))
  }
  assert.deepEqual(await valid(), [true, false, false, true, true])
  assert.deepEqual(await begin(db, dataDir, presetA, said), { token: null, keptIn: null })
  assert.deepEqual(await valid(), [false, true, false, true, true])
  assert.deepEqual([tokenFiles({ dataDir, url: '' }), said.length], [[], 1])
  await begin(db, dataDir, presetB)
  assert.deepEqual(await valid(), [false, false, true, true, true])
  // Without one, nothing changes.
  await begin(db, dataDir)
  assert.deepEqual(await valid(), [false, false, true, true, true])
  await begin(db, dataDir, presetA)
  assert.deepEqual(await valid(), [false, true, false, true, true])
})

test('a start makes its token whatever the account has decided on the fields of users and tokens', async t => {
  const db = await database(t)
  const { dataDir } = await place()
  await begin(db, dataDir)
  const loadLatest = () => loadCatalog(db, resources, 1)
  const administrator = {
    db,
    account: 1,
    actor: 1,
    loadCatalog: loadLatest,
    mutex: new KeyedMutex<number>('configuration'),
  }
  for (const source of ['user', 'token']) {
    const field = { source, field_name: 'Badge', type: 'SINGLE_STRING', is_required: true }
    await createField(administrator, field)
  }
  const name = (await loadLatest()).resources.get('token')!.byName.get('name')!
  await updateField(administrator, name.id, { config: { max_length: 3 } })
  await db.query('UPDATE "user" SET role = 3')
  await begin(db, dataDir, presetA)
  assert.equal(await isValid(db, presetA!), true)
})

test('DEALWRIGHT_TOKEN is of account 1: where that was deleted it is of no use, and no other one’s', async t => {
  const db = await database(t)
  const { dataDir } = await place()
  const { token } = await begin(db, dataDir)
  const who = { name: 'Second', ownerName: 'Bo', ownerEmail: 'bo@example.com' }
  const { account } = await withAccountsLock(db, tx => createAccount(tx, who))
  assert.ok(await announceDeletion(db, 1))
  assert.deepEqual(await begin(db, dataDir, presetA), { token: null, keptIn: null, isPresetInvalid: true })
  assert.ok(await restoreAccount(db, 1))
  // The account is unchanged, and so is the file of its token.
  assert.deepEqual(await begin(db, dataDir), { token: null, keptIn: kept({ dataDir, url: '' }) })
  assert.equal(read(kept({ dataDir, url: '' })), token)
  assert.equal(account, 2)
})

test('the first token as DEALWRIGHT_TOKEN stays valid, and so does its file', async t => {
  const db = await database(t)
  const { dataDir } = await place()
  const { token, keptIn } = await begin(db, dataDir)
  assert.deepEqual(await begin(db, dataDir, token!), { token: null, keptIn })
  assert.ok(await isValid(db, token!))
})

test('the token of another database, kept in the same folder, is not lost', async t => {
  const [one, other] = [await database(t), await database(t)]
  const { dataDir } = await place()
  const said: string[] = []
  const first = await begin(one, dataDir)
  const second = await begin(other, dataDir, undefined, said)
  assert.deepEqual(tokenFiles({ dataDir, url: '' }), ['admin-token', 'admin-token.1'])
  assert.deepEqual([read(second.keptIn!), read(`${second.keptIn}.1`)], [second.token, first.token])
  assert.match(said.join(), /now in \S+admin-token\.1\./)
  // The stored token is another account's: the start does not print it.
  assert.deepEqual(await begin(one, dataDir), { token: null, keptIn: null })
  // A rotation of the one leaves the other's file.
  await begin(one, dataDir, presetA)
  assert.deepEqual(tokenFiles({ dataDir, url: '' }), ['admin-token', 'admin-token.1'])
})

test('a token of a start that was cut short is removed, and a link in its place is not followed', async t => {
  const db = await database(t)
  const { dataDir } = await place()
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'mine'), 'mine')
  symlinkSync(join(dataDir, 'mine'), join(dataDir, 'admin-token.pending'))
  const { token } = await begin(db, dataDir)
  assert.equal(read(join(dataDir, 'mine')), 'mine')
  writeFileSync(join(dataDir, 'admin-token.pending'), newSecret('token', 1))
  await begin(db, dataDir)
  assert.deepEqual(tokenFiles({ dataDir, url: '' }), ['admin-token'])
  assert.equal(read(join(dataDir, 'admin-token')), token)
})

test('a preset token acts for whoever administers, else for whoever is there', async t => {
  const db = await database(t)
  const { dataDir } = await place()
  const { token } = await begin(db, dataDir)
  const actor = async (of: string) =>
    (
      await db.query(
        `SELECT t."user" FROM token t JOIN token_secret s ON s.account_id = t.account_id AND s.token = t.id
         WHERE s.account_id = 1 AND s.hash = $1::text`,
        [hashToken(of)],
      )
    )[0]!.user
  assert.equal(await actor(token!), '1')
  const catalog = await loadCatalog(db, resources, 1)
  const make = async (name: string, role: string) => {
    const body = { name, email: `${name}@example.com`, role }
    return String((await createRecord(workOn(db, { catalog, actor: 1 }, 'user'), body)).id)
  }
  const [colleague, administrator] = [
    await make('colleague', 'Member'),
    await make('second', 'Administrator'),
  ]
  await db.query('UPDATE "user" SET deleted_at = now() WHERE account_id = 1 AND id = 1')
  await begin(db, dataDir, presetA)
  assert.equal(await actor(presetA!), administrator)
  await db.query('UPDATE "user" SET deleted_at = now() WHERE account_id = 1 AND id = $1::bigint', [
    administrator,
  ])
  await begin(db, dataDir, presetB)
  // No administrator is left: the token must be useful, so it administers.
  assert.equal(await actor(presetB!), colleague)
  const [row] = await db.query('SELECT role::text FROM "user" WHERE id = $1::bigint', [colleague])
  assert.equal(row!.role, '1')
})

test('tokens that starts made before this was written down are known by their names', async t => {
  const files = join(home, 'migrations')
  mkdirSync(files)
  const all = readdirSync('src/db/migrations').sort()
  const before = all.slice(
    0,
    all.findIndex(name => name.endsWith('-start-tokens.sql')),
  )
  for (const file of before) cpSync(join('src/db/migrations', file), join(files, file))
  const url = isServer ? await createDatabase(process.env.TEST_DATABASE_URL!) : undefined
  const db = await openDatabase({ ...(url && { url }), ...timeouts(), log: () => {} })
  t.after(() => db.close())
  await migrate(db, { directory: files })
  await db.query(
    "INSERT INTO account VALUES (1, 'Old', 'UTC', 840, 1, now()), (2, 'Other', 'UTC', 840, 1, now())",
  )
  await db.query(`INSERT INTO token (account_id, id, name, hash, scopes, user_id, created_at)
    SELECT a, i, n, a || n, '{admin}', 1, now() FROM generate_series(1, 2) a,
    (VALUES (7, 'First start'), (8, 'DEALWRIGHT_TOKEN'), (9, 'Mine')) v (i, n)`)
  await migrate(db)
  const rows = await db.query('SELECT account_id, id FROM token WHERE made_at_start ORDER BY 1, 2')
  assert.deepEqual(
    rows.map(row => `${row.account_id} ${row.id}`),
    ['1 7', '1 8'],
  )
})

test('a start for this machine alone shows a link that signs the owner in, once (D133)', async () => {
  const here = await migratedPlace()
  const linkOf = (said: string) => /Sign in (\S+)\/sign-in#link=(\S+)\n/.exec(said)
  const first = await start(here)
  const [, origin, link] = linkOf(first.said().out)!
  assert.equal(origin, first.address)
  assert.match(link!, /^dwl_1_\w+&sign_in$/)
  // The token after `#link=` signs in without a browser, as README.md documents.
  const enter = () =>
    fetch(`${first.address}/rest/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link }),
    })
  const entered = await enter()
  assert.equal(entered.status, 201)
  const { data } = (await entered.json()) as { data: { user: { id: number }; scopes: string[] } }
  assert.deepEqual([data.user.id, data.scopes], [1, ['admin']])
  assert.match(entered.headers.get('set-cookie')!, /session=/)
  assert.equal((await enter()).status, 410)
  await first.stop()
  for (const env of [
    { PUBLIC_URL: 'https://crm.example.com' },
    { TRUSTED_PROXIES: '127.0.0.1' },
    { HOST: '0.0.0.0' },
  ] as Record<string, string>[]) {
    const other = await start(here, env)
    assert.ok(other.address)
    assert.equal(linkOf(other.said().out), null, JSON.stringify(env))
    await other.stop()
  }
})
