/**
 * The rules of an upgrade (D154): what `upgrade --check` tells, that an older program refuses a newer
 * database, and that processes go on while another one migrates.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { migrate, migrateWithin, readMigrations } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { answered, eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { type Running, runService, settingsOnly, temporaryFolder } from '../support/running-service.ts'
import { timeouts } from '../support/timeouts.ts'

const folder = temporaryFolder('upgrade-rules')
const server = await startPostgres()
after(() => server?.stop())
const known = readMigrations().length
const log = () => {}

type Env = { readonly DATA_DIR: string; readonly DATABASE_URL: string }

function dealwright(env: Env, ...args: readonly string[]) {
  const options = { env: settingsOnly(env), encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/dealwright.js', ...args], options)
  return { status, out: stdout, err: stderr }
}
const check = (env: Env, ...more: readonly string[]) => dealwright(env, 'upgrade', '--check', ...more)

async function within<T>({ DATABASE_URL: url, DATA_DIR: dataDir }: Env, act: (db: Database) => Promise<T>) {
  const db = await openDatabase({ ...(url ? { url } : { dataDir }), ...timeouts(), log })
  return act(db).finally(() => db.close())
}

for (const engine of ['embedded', 'postgres'] as const) {
  const skip = engine === 'postgres' && !server
  const newEnv = async (name: string): Promise<Env> => ({
    DATA_DIR: join(folder, `${name}-${engine}`),
    DATABASE_URL: engine === 'postgres' ? await createDatabase(server!.url) : '',
  })

  test(`upgrade --check on ${engine} names the migrations and their tables, and changes nothing`, {
    skip,
  }, async () => {
    const env = await newEnv('older')
    await within(env, db => db.sql.begin(tx => migrateWithin(tx, 12)))
    const { status, out, err } = check(env)
    assert.deepEqual([status, err], [0, ''])
    assert.match(out, new RegExp(`^The schema has version 12; this program, .+, has ${known}\\.\n`))
    assert.match(out, new RegExp(`^A start applies ${known - 12} migrations`, 'm'))
    assert.match(out, /^ {2}0013-names: .*\d kB/m)
    // Of an embedded database one process alone can be there.
    const others = /^Stop all processes of older versions first: 0013-names and 24 more would harm them\.$/m
    assert.equal(others.test(out), engine === 'postgres', out)
    assert.match(out, /^Make a backup first: "dealwright backup FILE"\./m)
    const told = JSON.parse(check(env, '--json').out)
    assert.deepEqual(
      [told.version, told.known, told.needs_backup, told.older_may_run],
      [12, known, true, false],
    )
    assert.deepEqual(
      told.migrations.map(({ version }: { version: number }) => version),
      readMigrations()
        .slice(12)
        .map(({ version }) => version),
    )
    const [{ tables }] = told.migrations.filter(({ name }: { name: string }) => name === 'next-steps')
    assert.ok(tables.some(({ name }: { name: string }) => name === 'deal'))
    await within(env, db => db.sql.begin(tx => migrateWithin(tx, 37)))
    const rolling = check(env).out
    assert.equal(/^Processes of older versions may run on/m.test(rolling), engine === 'postgres', rolling)
    assert.equal(JSON.parse(check(env, '--json').out).older_may_run, true)
    assert.equal(dealwright(env, 'migrate').status, 0)
    const after = check(env)
    assert.equal(after.status, 0)
    assert.match(after.out, new RegExp(`^The schema has version ${known}; .* A start changes nothing\\.\n$`))
  })

  test(`a newer database on ${engine}: start, check and commands say what to do in one line`, {
    skip,
  }, async () => {
    const env = await newEnv('newer')
    const add = `INSERT INTO schema_migration VALUES (${known + 1}, 'later', 'x')`
    await within(env, async db => {
      await migrate(db)
      await db.query(add)
    })
    const line = new RegExp(
      `^The database's schema is version ${known + 1} and this program knows only ${known}: ` +
        'run the newer program, or restore the backup made before the upgrade into an empty database\\.\n$',
    )
    for (const args of [['upgrade', '--check'], ['migrate'], ['account', 'list'], ['serve']]) {
      const { status, out, err } = dealwright(env, ...args)
      assert.deepEqual([status, out], [1, ''], args.join(' '))
      assert.match(err, line)
    }
    const accounts = await within(env, db => db.query('SELECT FROM account a WHERE a.account_id > 0'))
    assert.equal(accounts.length, 0)
  })

  test(`upgrade --check on ${engine} without a schema, or without --check`, { skip }, async () => {
    const env = await newEnv('none')
    const none = check(env)
    assert.equal(none.status, 1)
    assert.match(none.err, /^(There is no database in .*|The database has no schema yet): .*\n$/)
    const bare = dealwright(env, 'upgrade')
    assert.equal(bare.status, 2)
    assert.match(bare.err, /^"dealwright upgrade" needs --check; .*\n$/)
  })
}

test('upgrade --check does not ask a running service, which may be an older one', async () => {
  const env = { DATA_DIR: join(folder, 'running'), DATABASE_URL: '', SAMPLE_DATA: '0' }
  const service = await runService(env)
  const { status, err } = check(env)
  assert.equal(status, 1)
  assert.match(err, /^The data directory .* is in use by process \d+ .*\. Stop it first, .*\n$/)
  await service.end()
})

test('two processes read and write while a third one migrates, and afterwards', {
  skip: !server,
}, async () => {
  const url = await createDatabase(server!.url)
  const env = { DATA_DIR: join(folder, 'rolling'), DATABASE_URL: url, SAMPLE_DATA: '1' }
  const services = [await runService(env), await runService(env)]
  const files = join(folder, 'migrations')
  cpSync('src/db/migrations', files, { recursive: true })
  const later = [
    'ALTER TABLE deal ADD COLUMN later int; CREATE TABLE later (id int); SELECT pg_sleep(1);',
    'CREATE INDEX CONCURRENTLY deal_later ON deal (account_id, later)',
  ]
  for (const [index, text] of later.entries())
    writeFileSync(join(files, `${String(known + 1 + index).padStart(4, '0')}-later.sql`), text)
  let isOver = false
  const done = [0, 0]
  const work = services.map(async (service, n) => {
    for (; !isOver; done[n]!++) await workOn(service)
  })
  const twoMoreOfEach = async () => {
    const before = [...done]
    await eventually(() => done.every((count, n) => count >= before[n]! + 2), 'work of both')
  }
  await twoMoreOfEach()
  const { applied } = await within(env, db => migrate(db, { directory: files }))
  assert.deepEqual(applied, [known + 1, known + 2])
  await twoMoreOfEach()
  isOver = true
  await Promise.all(work)
  const refused = dealwright(env, 'serve')
  assert.equal(refused.status, 1)
  assert.match(refused.err, /this program knows only \d+: run the newer program/)
  for (const service of services) {
    assert.equal((await service.get('/readyz')).status, 200)
    await service.end()
  }
})

/** Writes and reads. What waits for the migration's locks may be refused with "try again". */
async function workOn({ get, post }: Running): Promise<void> {
  const named = () => ({ name: `${process.hrtime.bigint()}-${Math.random()}` })
  const made = await answered(() => post('/rest/api/v1/tag', named()))
  assert.equal(made.status, 201, await made.clone().text())
  const deals = await answered(() => get('/rest/api/v1/deal/view/list?pageSize=5'))
  assert.equal(deals.status, 200, await deals.clone().text())
  const [deal] = ((await deals.json()) as { data: { id: number }[] }).data
  const one = await answered(() => get(`/rest/api/v1/deal/${deal!.id}`))
  assert.equal(one.status, 200)
}
