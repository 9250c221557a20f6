/**
 * The embedded database's promises: one process a directory, nothing acknowledged is lost, nothing hangs for
 * ever.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { setTimeout as delay, setImmediate as turnOfLoop } from 'node:timers/promises'
import { embeddedMajor } from '../../src/db/embedded/data-directory.ts'
import { embeddedPool } from '../../src/db/embedded/embedded.ts'
import { Engine } from '../../src/db/embedded/engine.ts'
import { acquireLock } from '../../src/db/embedded/lock.ts'
import { vacuumDueTables } from '../../src/db/embedded/maintenance.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { StartupError } from '../../src/db/startup-error.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'
import { eventually } from '../support/eventually.ts'

const home = mkdtempSync(join(tmpdir(), 'dealwright-embedded-'))
after(() => rmSync(home, { recursive: true, force: true }))
const log = () => {}

// One cluster for the whole file: to make one takes seconds, to open it again does not.
const dataDir = join(home, 'data')

describe('a directory', () => {
  test('an unfinished first start is begun anew', async () => {
    mkdirSync(join(dataDir, 'pg'), { recursive: true })
    writeFileSync(join(dataDir, 'pg', 'PG_VERSION'), embeddedMajor)
    writeFileSync(join(dataDir, 'pg.unfinished'), '')
    const db = await openDatabase({ dataDir, log })
    await db.query('CREATE TABLE item (id bigint PRIMARY KEY)')
    assert.ok(!existsSync(join(dataDir, 'pg.unfinished')))
    assert.equal(readFileSync(join(dataDir, 'pg', 'PG_VERSION'), 'utf8').trim(), embeddedMajor)
    await db.close()
  })

  test('of another PostgreSQL, or of something else, is refused and left alone', async () => {
    const other = join(home, 'other')
    mkdirSync(join(other, 'pg'), { recursive: true })
    writeFileSync(join(other, 'pg', 'notes.txt'), 'mine')
    await assert.rejects(openDatabase({ dataDir: other, log }), {
      name: 'StartupError',
      message: /not a database directory/,
    })
    writeFileSync(join(other, 'pg', 'PG_VERSION'), '17\n')
    await assert.rejects(openDatabase({ dataDir: other, log }), {
      name: 'StartupError',
      message: /PostgreSQL 17.*PostgreSQL 18.*Export/,
    })
    assert.equal(readFileSync(join(other, 'pg', 'notes.txt'), 'utf8'), 'mine')
  })
})

describe('durability', () => {
  test('every commit is flushed to the disk before it is acknowledged', async () => {
    const engine = await Engine.open({ dataDir, hangLimitMs: 30_000, log })
    const sql = embeddedPool(engine, log)
    await sql.query('CREATE TABLE flushed (id bigint)')
    const before = engine.fsyncs
    for (let id = 0; id < 20; id++) await sql.query('INSERT INTO flushed VALUES ($1::bigint)', [`${id}`])
    assert.ok(engine.fsyncs - before >= 20, `${engine.fsyncs - before} flushes`)
    const [row] = await sql.query(
      `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages`,
    )
    assert.deepEqual({ ...row }, { fsync: 'on', pages: 'on' })
    await sql.end()
    await engine.close()
  })

  test('a killed process keeps its directory locked until then, and loses nothing it acknowledged', async () => {
    const { child, lines } = startWriter()
    let acknowledged = -1
    for await (const line of lines) {
      if (line === 'open')
        await assert.rejects(openDatabase({ dataDir, log }), {
          name: 'StartupError',
          message: new RegExp(`process ${child.pid} `),
        })
      else acknowledged = Number(line)
      if (acknowledged >= 200) break
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    const db = await openDatabase({ dataDir, log })
    const [row] = await db.query('SELECT count(*) AS count, max(id) AS max FROM item')
    assert.ok(Number(row!.max) >= acknowledged)
    assert.equal(Number(row!.count), Number(row!.max) + 1)
    await db.close()
  })
})

describe('the lock', () => {
  const fresh = (name: string) => {
    const directory = join(home, name)
    mkdirSync(directory)
    return directory
  }
  const holder = (directory: string) => JSON.parse(readFileSync(join(directory, 'lock', '1'), 'utf8'))

  test('of many at the same instant, one has it; released, the next', async () => {
    const directory = fresh('race')
    for (const _ of [1, 2, 3]) {
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, () => acquireLock(directory, () => {})),
      )
      const won = results.filter(result => result.status === 'fulfilled')
      assert.equal(won.length, 1)
      for (const result of results)
        if (result.status === 'rejected') assert.ok(result.reason instanceof StartupError)
      won[0]!.value.release()
    }
  })

  test('of a process that is gone is taken over, also when its pid is used again or the machine was started again', async () => {
    for (const change of [{ pid: 2 ** 22 + 1 }, { started: '1' }, { boot: 'an earlier one' }]) {
      const directory = fresh(`stale-${Object.keys(change)[0]}`)
      const lock = await acquireLock(directory, () => {})
      const stale = { ...holder(directory), ...change }
      lock.release()
      writeFileSync(join(directory, 'lock', '1'), JSON.stringify(stale))
      const next = await acquireLock(directory, () => {})
      next.release()
    }
  })

  test('of a process that cannot be looked up is left to it as long as it renews it', async () => {
    const directory = fresh('elsewhere')
    const lock = await acquireLock(directory, () => {})
    writeFileSync(
      join(directory, 'lock', '1'),
      JSON.stringify({ ...holder(directory), host: 'elsewhere', pid: 17 }),
    )
    await assert.rejects(
      acquireLock(directory, () => {}),
      { message: /process 17 on elsewhere/ },
    )
    lock.release()
  })
})

describe('a busy engine', () => {
  const slow = 'SELECT count(*) FROM generate_series(1, 1000000000000)'
  const open = async (test: TestContext) => {
    const said: string[] = []
    const engine = await Engine.open({ dataDir, hangLimitMs: 120_000, log: line => said.push(line) })
    const sql = embeddedPool(engine, log)
    test.after(async () => {
      await sql.end()
      await engine.close()
    })
    return { engine, sql, said }
  }

  test('what is answered does not wait for the statement behind it', async test => {
    const { sql } = await open(test)
    await sql.query('SELECT 1')
    const at: number[] = []
    const note = () => at.push(performance.now())
    const from = performance.now()
    await Promise.all([
      sql.query('SELECT 1').then(note),
      sql.query('SELECT pg_sleep(3)').then(note),
      sql.query('SELECT 2').then(note),
    ])
    const [quick, sleeping, behind] = at.map(time => time - from)
    assert.ok(quick! < sleeping! / 2 && sleeping! <= behind!, `${at.map(time => time - from)}`)
  })

  test('a process that stood still for longer than a statement may wait refuses none', async test => {
    const db = await openDatabase({ dataDir, statementTimeoutMs: 1000, waitMs: 1000, log })
    test.after(() => db.close())
    await db.query('SELECT 1 AS one')
    const answers = ['SELECT pg_sleep(0.3) AS slept', 'SELECT 2 AS two'].map(text => db.query(text))
    await delay(100)
    // Behind the reading of messages: the next turn begins with the clocks.
    await turnOfLoop()
    const until = performance.now() + 2000
    while (performance.now() < until);
    await Promise.all(answers)
  })

  test('a large answer is whole, whatever of it is taken early', async test => {
    const { sql } = await open(test)
    // Half a second of rows, so that many of them are received while they are made.
    const text = `SELECT id, repeat(md5(id::text), 100) AS text FROM generate_series(1, 3000) AS id, LATERAL (SELECT pg_sleep(0.0003 * (id % 2))) AS slept`
    for (const rows of await Promise.all([sql.query(text), sql.query(text)])) {
      assert.equal(rows.length, 3000)
      for (const [index, row] of rows.entries())
        assert.deepEqual([Number(row.id), row.text!.length], [index + 1, 3200])
    }
  })

  test('a statement can be ended alone; those around it are answered as if nothing had been', async test => {
    const { engine, sql, said } = await open(test)
    await sql.query('CREATE TABLE ended (id bigint)')
    for (const text of [slow, `INSERT INTO ended ${slow.replace('count(*)', '1')}`]) {
      const before = sql.query('SELECT 1 AS n')
      const ended = sql.query(text).then(
        () => undefined,
        error => error.code,
      )
      const behind = sql.query('SELECT 2 AS n')
      assert.equal((await before)[0]!.n, '1')
      const again = setInterval(() => engine.interrupt(), 50)
      assert.equal(await ended, '57014')
      clearInterval(again)
      assert.equal((await behind)[0]!.n, '2')
    }
    // An interrupt of an idle engine has no effect.
    engine.interrupt()
    assert.equal((await sql.query('SELECT count(*) AS n FROM ended'))[0]!.n, '0')
    assert.deepEqual(said, [])
  })

  test('a statement that does not notice is ended with the engine', async test => {
    const { engine, sql, said } = await open(test)
    await sql.query('SELECT 1')
    // Ordering the marks takes quadratic time, without checks for interrupts.
    const marks = String.raw`SELECT length(normalize(repeat(U&'\0315', 300000) || repeat(U&'\0316', 300000)))`
    // On a busy machine the interrupt may come before it has begun with them.
    while (said.length === 0) {
      let again: NodeJS.Timeout | undefined
      const later = setTimeout(() => {
        again = setInterval(() => engine.interrupt(), 50)
      }, 1000)
      await assert.rejects(sql.query(marks))
      clearTimeout(later)
      clearInterval(again)
    }
    assert.match(said.join(), /did not end/)
    await eventually(() => engine.available, 'an engine', 0)
    assert.equal((await sql.query('SELECT 1 AS n'))[0]!.n, '1')
  })
})

describe('an engine that fails', () => {
  test('hung: it is ended and reopened; meanwhile the database is unavailable', async () => {
    const db = await openDatabase({ dataDir, log, statementTimeoutMs: 1000 })
    const count = async () => (await db.query('SELECT count(*) AS n FROM item'))[0]!.n
    // Often enough to prepare the statement, which the reopened engine does not know
    await count()
    await count()
    const before = await count()
    // It does not check for interrupts while it orders the marks, so the statement can't be cancelled.
    const hung = db.query(
      String.raw`SELECT length(normalize(repeat(U&'\0315', 1000000) || repeat(U&'\0316', 1000000)))`,
    )
    const behind = count()
    await Promise.all([
      assert.rejects(hung, DatabaseUnavailable),
      assert.rejects(behind, DatabaseUnavailable),
    ])
    await assert.rejects(count(), DatabaseUnavailable)
    assert.equal(await db.ready(), false)
    await untilReady(db)
    assert.equal(await count(), before)
    await db.close()
  })

  test('crashed, in the middle of a transaction: as if it had not begun', async () => {
    const engine = await Engine.open({ dataDir, hangLimitMs: 30_000, log })
    const sql = embeddedPool(engine, log)
    const broken = sql.begin(async tx => {
      await tx.query('DELETE FROM item')
      await workerOf(engine).terminate()
      await tx.query('SELECT 1')
    })
    await assert.rejects(broken)
    await eventually(() => engine.available, 'an engine', 0)
    const [row] = await sql.query('SELECT count(*) > 0 AS kept FROM item')
    assert.equal(row!.kept, 't')
    await sql.end()
    await engine.close()
  })

  test('in memory, there is nothing to reopen: it says so instead of being empty', async () => {
    const said: string[] = []
    const engine = await Engine.open({ hangLimitMs: 30_000, log: line => said.push(line) })
    await workerOf(engine).terminate()
    assert.equal(engine.available, false)
    assert.match(said.join(), /lost/)
    await engine.close()
  })
})

test('tables that changed are vacuumed and analyzed', async () => {
  const db = await openDatabase({ dataDir, log })
  await db.query('CREATE TABLE busy (id bigint)')
  await db.query('INSERT INTO busy SELECT generate_series(1, 1000)')
  await db.query('DELETE FROM busy WHERE id > 100')
  assert.ok((await vacuumDueTables(db.sql)).includes('public.busy'))
  const [row] = await db.query(`SELECT reltuples FROM pg_class WHERE relname = 'busy'`)
  assert.equal(row!.reltuples, '100')
  assert.ok(!(await vacuumDueTables(db.sql)).includes('public.busy'))
  await db.close()
})

/** A process of its own that inserts 0, 1, 2, … and prints each number once it is acknowledged. */
function startWriter(): { child: ChildProcess; lines: AsyncIterable<string> } {
  const program = `
    const { openDatabase } = await import(${JSON.stringify(new URL('../../src/db/open.ts', import.meta.url).href)})
    const db = await openDatabase({ dataDir: ${JSON.stringify(dataDir)}, log() {} })
    console.log('open')
    for (let id = 0; ; id++) {
      await db.query('INSERT INTO item VALUES ($1::bigint)', [String(id)])
      console.log(id)
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, lines: createInterface({ input: child.stdout! }) }
}

async function untilReady(db: Database): Promise<void> {
  await eventually(() => db.ready(), 'a database that is ready', 0)
}

function workerOf(engine: Engine): { terminate(): Promise<number> } {
  return (engine as unknown as { running: { worker: { terminate(): Promise<number> } } }).running.worker
}
