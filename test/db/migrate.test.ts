/** The schema's history: applied once, in order, by one process at a time, and never guessed at. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { lockSchema, migrate, readMigrations, schemaVersion } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { makeReadyDatabase, readyDatabase } from '../../src/db/ready-database.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, dropDatabase, startPostgres } from '../support/postgres.ts'
import { timeouts } from '../support/timeouts.ts'

const log = () => {}
const home = mkdtempSync(join(tmpdir(), 'dealwright-migrate-'))
const server = await startPostgres()
after(async () => {
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

test('the database that a first start begins with: all migrations and no account', async () => {
  await makeReadyDatabase()
  for (const [template, applied] of [
    [readyDatabase(), 0],
    [join(home, 'missing.tar.gz'), readMigrations().length],
  ] as const) {
    const db = await openDatabase({ template, ...timeouts(), log })
    assert.equal((await migrate(db)).applied.length, applied)
    assert.deepEqual((await schemaVersion(db)).pending, [])
    assert.deepEqual(await db.query('SELECT FROM account'), [])
    await db.close()
  }
})

describe('embedded', () => suite(undefined))
describe('PostgreSQL', { skip: !server && 'no PostgreSQL here' }, () => suite(server!))

function suite(server: { url: string } | undefined) {
  let db: Database
  let url: string | undefined
  let files: Record<string, string>
  let directory: string
  const said: string[] = []

  before(async () => {
    url = server && (await createDatabase(server.url))
    db = await openDatabase({ url, ...timeouts(), log })
  })
  after(async () => {
    await db.close()
    if (url) await dropDatabase(url)
  })
  beforeEach(async () => {
    await db.query('DROP SCHEMA public CASCADE')
    await db.query('CREATE SCHEMA public')
    directory = mkdtempSync(join(home, 'files-'))
    files = {
      '0001-first.sql': 'CREATE TABLE one (id int);\nINSERT INTO one VALUES (1), (2);',
      '0002-second.sql': 'CREATE TABLE two (id int);',
    }
  })
  const run = (by: Database = db) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
    return migrate(by, { directory, log: line => said.push(line) })
  }
  const tables = async () =>
    (await db.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`)).map(
      row => row.tablename,
    )

  test('each file once', async () => {
    assert.deepEqual(await run(), { applied: [1, 2], version: 2 })
    assert.deepEqual(await run(), { applied: [], version: 2 })
    files['0003-third.sql'] = 'INSERT INTO one VALUES (3)'
    assert.deepEqual(await run(), { applied: [3], version: 3 })
    assert.equal((await db.query('SELECT count(*) AS n FROM one'))[0]!.n, '3')
  })

  test('a start that waits for another process says so', { skip: !server }, async () => {
    const other = await openDatabase({ url, ...timeouts(), log })
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holder = other.sql.begin(async tx => {
      await lockSchema(tx)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const waiting = run()
    await eventually(() => said.length > 0, 'a line about the wait')
    held.resolve()
    await holder
    assert.deepEqual((await waiting).applied, [1, 2])
    assert.deepEqual(said.splice(0), [
      'Another process upgrades or restores the database; this one waits for it.',
    ])
    await other.close()
  })

  test('requests go on while a migration waits for a table that a backup reads', {
    skip: !server,
  }, async () => {
    const other = await openDatabase({ url, ...timeouts(), log })
    await run()
    files['0003-third.sql'] = 'ALTER TABLE one ADD COLUMN name text'
    const { migrating, waits } = await other.sql.begin(async tx => {
      await tx.query('SELECT id FROM one')
      const migrating = run()
      const waits = "SELECT 1 FROM pg_locks WHERE relation = 'one'::regclass AND NOT granted"
      await eventually(async () => (await tx.query<unknown[]>(waits)).length, 'a migration that waits')
      assert.equal((await db.query('SELECT id FROM one')).length, 2)
      await eventually(() => said.length > 0, 'a line about the wait')
      return { migrating, waits: said.splice(0) }
    })
    assert.deepEqual((await migrating).applied, [3])
    assert.deepEqual(waits, [
      'A migration needs a table that others use, such as a backup; it tries again and again.',
    ])
    await other.close()
  })

  test('two at once: every file is applied by one of them', async () => {
    const other = url ? await openDatabase({ url, ...timeouts(), log }) : db
    const [one, two] = await Promise.all([run(), run(other)])
    assert.deepEqual([...one.applied, ...two.applied].sort(), [1, 2])
    assert.equal((await db.query('SELECT count(*) AS n FROM one'))[0]!.n, '2')
    if (other !== db) await other.close()
  })

  test('a file that fails leaves nothing, those before it stay', async () => {
    files['0003-third.sql'] = 'CREATE TABLE three (id int);\nSELECT 1 / 0;'
    await assert.rejects(run(), { code: '22012' })
    assert.deepEqual(await tables(), ['one', 'schema_migration', 'two'])
    files['0003-third.sql'] = 'CREATE TABLE three (id int);'
    assert.deepEqual(await run(), { applied: [3], version: 3 })
  })

  test('a schema of a newer program is refused', async () => {
    await run()
    await db.query(`INSERT INTO schema_migration VALUES (3, 'later', 'x')`)
    const message = /version 3 .* only 2: run the newer program, or restore the backup/
    await assert.rejects(run(), { name: 'StartupError', message })
  })

  const isValid = async () => {
    const [index] = await db.query(
      `SELECT indisvalid::text AS valid FROM pg_index WHERE indexrelid = to_regclass('one_id')`,
    )
    return index?.valid
  }

  test('an index is built while writes go on, and other processes wait for it', async () => {
    await run()
    files['0003-third.sql'] = '-- For lists, CONCURRENTLY .\nCREATE INDEX CONCURRENTLY one_id ON one (id);'
    if (!url) {
      assert.deepEqual(await run(), { applied: [3], version: 3 })
      assert.equal(await isValid(), 'true')
      return
    }
    const other = await openDatabase({ url, ...timeouts(), log })
    const { promise: end, resolve } = Promise.withResolvers<void>()
    const { promise: written, resolve: hasWritten } = Promise.withResolvers<void>()
    // The build waits for this transaction.
    const writer = other.sql.begin(async tx => {
      await tx.query('INSERT INTO one VALUES (4)')
      hasWritten()
      await end
    })
    await written
    const [one, two] = [run(), run(other)]
    const building = `SELECT count(*) AS n FROM pg_stat_progress_create_index
      WHERE datname = current_database()`
    await eventually(async () => (await db.query(building))[0]!.n !== '0', 'a build under way')
    await db.query('INSERT INTO one VALUES (5)')
    assert.equal((await db.query(building))[0]!.n, '1')
    assert.equal(await isValid(), 'false')
    resolve()
    await writer
    assert.deepEqual([...(await one).applied, ...(await two).applied], [3])
    assert.equal(await isValid(), 'true')
    assert.equal((await db.query('SELECT count(*) AS n FROM one'))[0]!.n, '4')
    await other.close()
  })

  test('an index whose build failed is built again', async () => {
    await run()
    await db.query('INSERT INTO one VALUES (2)')
    files['0003-third.sql'] =
      'CREATE INDEX CONCURRENTLY one_any ON one (id);\n' +
      'CREATE UNIQUE INDEX CONCURRENTLY one_id ON one (id)'
    await assert.rejects(run(), { code: '23505' })
    assert.equal(await isValid(), url ? 'false' : undefined)
    await db.query('DELETE FROM one WHERE id = 2')
    assert.deepEqual(await run(), { applied: [3], version: 3 })
    assert.equal(await isValid(), 'true')
  })

  test('CONCURRENTLY beside another statement is refused before anything is applied', async () => {
    files['0003-third.sql'] = 'CREATE INDEX CONCURRENTLY a ON one (id);\nCREATE INDEX b ON one (id);'
    await assert.rejects(run(), {
      name: 'StartupError',
      message: /0003-third\.sql .* each of its statements/,
    })
    assert.deepEqual(await tables(), [])
  })

  test('a process waits for the migration of another for as long as that takes', async () => {
    if (!url) return
    const other = await openDatabase({ url, ...timeouts(), statementTimeoutMs: 200, log })
    files['0003-third.sql'] = 'SELECT pg_sleep(1)'
    const one = run()
    const sleeping = `SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`
    await eventually(async () => (await db.query(sleeping)).length, 'a migration under way')
    assert.deepEqual(await run(other), { applied: [], version: 3 })
    assert.deepEqual((await one).applied, [1, 2, 3])
    await other.close()
  })

  test('an edited file is refused, one with other line ends is the same', async () => {
    await run()
    files['0001-first.sql'] = files['0001-first.sql']!.replaceAll('\n', '\r\n')
    await run()
    files['0001-first.sql'] += ' -- and more'
    await assert.rejects(run(), { name: 'StartupError', message: /0001-first.*edited/ })
  })

  test('a hole in the history or among the files is refused', async () => {
    await run()
    await db.query('DELETE FROM schema_migration WHERE version = 1')
    await assert.rejects(run(), { name: 'StartupError', message: /lacks version 1/ })
    files['0004-fourth.sql'] = ''
    await assert.rejects(run(), { name: 'StartupError', message: /0004-fourth.* number 3/ })
  })
}
