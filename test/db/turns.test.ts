/**
 * Long reads, on both engines: their order, their cancellation, and the effect on callers who wait behind
 * them (D102, D104).
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep, setImmediate as turnOfLoop } from 'node:timers/promises'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, dropDatabase, startPostgres } from '../support/postgres.ts'
import { startProxy } from '../support/proxy.ts'
import { timeouts } from '../support/timeouts.ts'

const server = await startPostgres()
after(() => server?.stop())

const endless = 'SELECT count(*) AS n FROM generate_series(1, 1000000000000)'
const poolSize = 8
/** Connections that are left for long reads. */
const places = 4

const codeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'answered',
    error => error.code ?? error.name,
  )
/** Longer than any test takes, so that something else must end it. */
const never = 300_000
const timed = async (asked: Promise<unknown>) => {
  const from = performance.now()
  return { answer: await codeOf(asked), ms: performance.now() - from }
}
const quick = (db: Database, account: string) =>
  db.inTurn({ account }).query('SELECT $1::text AS n', [account])

describe('embedded', () => suite(async () => ({})))
describe('PostgreSQL', { skip: !server && 'no PostgreSQL here' }, () => {
  suite(async () => ({ url: await createDatabase(server!.url) }))
  serverSuite()
})

function suite(place: () => Promise<{ url?: string }>) {
  let db: Database
  let where: { url?: string }
  before(async () => {
    where = await place()
    const limits = { statementTimeoutMs: never, waitMs: never, silenceMs: never }
    db = await openDatabase({ ...where, poolSize, ...limits, log() {} })
  })
  after(async () => {
    await db.close()
    if (where.url) await dropDatabase(where.url)
  })

  test('a read that nobody waits behind has the time of a statement', async () => {
    const other = await openDatabase({ ...where, statementTimeoutMs: 3000, silenceMs: never, log() {} })
    const { answer, ms } = await timed(other.inTurn({ account: '1' }).query(endless))
    assert.equal(answer, '57014')
    assert.ok(ms > 2900, `${ms} ms`)
    await other.close()
  })

  test('a read that keeps another account waiting is ended after two seconds', async () => {
    const { signal, abort } = abortable()
    const long = Array.from({ length: places + 2 }, () =>
      codeOf(db.inTurn({ account: '1', signal }).query(endless)),
    )
    const { answer, ms } = await timed(quick(db, '2'))
    assert.equal(answer, 'answered')
    assert.ok(ms > 1900, `${ms} ms`)
    abort()
    assert.ok((await Promise.all(long)).every(code => code === '57014' || code === '55P03'))
  })

  test('one whose asker has gone is ended at once, in its turn and before it', async () => {
    const signals = Array.from({ length: places + 3 }, () => new AbortController())
    const asked = signals.map(({ signal }) => codeOf(db.inTurn({ account: '1', signal }).query(endless)))
    await sleep(300)
    for (const signal of signals) signal.abort()
    assert.deepEqual(new Set(await Promise.all(asked)), new Set(['57014', '55P03']))
    assert.equal((await quick(db, '1'))[0]!.n, '1')
    const gone = AbortSignal.abort()
    assert.equal(await codeOf(db.inTurn({ account: '1', signal: gone }).query(endless)), '55P03')
  })

  test('what ends one read ends nothing else', async () => {
    const beside: Promise<unknown>[] = []
    for (let turn = 0; turn < 60; turn++) {
      const { signal, abort } = abortable()
      // Some end at about the moment of their cancellation.
      const ended = codeOf(
        db.inTurn({ account: '1', signal }).query(turn % 2 ? endless : 'SELECT pg_sleep(0.03)'),
      )
      for (let n = 0; n < 5; n++) {
        const asked = db.query('SELECT $1::text AS n', [`${turn}-${n}`])
        beside.push(asked.then(([row]) => assert.equal(row!.n, `${turn}-${n}`)))
      }
      beside.push(
        db
          .write('1', [{ text: 'SELECT $1::text AS n', values: [`${turn}`] }])
          .then(([row]) => assert.equal(row!.n, `${turn}`)),
      )
      await sleep(25 + (turn % 10))
      abort()
      assert.match(await ended, /57014|answered/)
      beside.push(quick(db, '2').then(([row]) => assert.equal(row!.n, '2')))
    }
    await Promise.all(beside)
  })

  test('a dry run within a transaction leaves nothing, and what is beside it is committed', async () => {
    await db.query('CREATE TABLE written (n bigint)')
    const write = (tx: Pick<Database, 'write'>, n: number) =>
      tx.write('1', [{ text: 'INSERT INTO written VALUES ($1::bigint)', values: [String(n)] }])
    const sum = async (on: Pick<Database, 'query'>) =>
      (await on.query('SELECT sum(n)::text AS n FROM written'))[0]!.n
    const tried = await db.transaction({ account: '1' }, async tx => {
      await write(tx, 1)
      const result = await tx.dryRun(async () => {
        await write(tx, 2)
        return sum(tx)
      })
      await write(tx, 4)
      return { commits: true, result }
    })
    const failed = db.transaction({ account: '1' }, async tx => {
      await write(tx, 8)
      await tx.dryRun(() => Promise.reject(new Error('of the run')))
      return { commits: true, result: null }
    })
    await assert.rejects(failed, /of the run/)
    assert.deepEqual([tried, await sum(db)], ['3', '5'])
  })
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

test('embedded: what waits for three seconds is refused, what is carried out is not', async () => {
  const db = await openDatabase({ statementTimeoutMs: never, yieldsAfterMs: never, log() {} })
  await db.query('SELECT 1')
  const { signal, abort } = abortable()
  const long = codeOf(db.inTurn({ account: '1', signal }).query(endless))
  await turnOfLoop()
  const behind = await Promise.all([
    timed(db.query('SELECT 1')),
    timed(db.write('1', [{ text: 'SELECT 1', values: [] }])),
  ])
  for (const { answer, ms } of behind) {
    assert.equal(answer, DatabaseUnavailable.name)
    assert.ok(ms > 2900, `${ms} ms`)
  }
  abort()
  assert.equal(await long, '57014')
  await db.close()
})

test('embedded: an account that kept others waiting has as long a rest; a job only until they are done', async () => {
  const db = await openDatabase({ ...timeouts(never), log() {} })
  const longMs = 1000
  const work = 'SELECT count(*) FROM generate_series(1, 10000)'
  /** How long the account waits for its next transaction while others ask: once, or all the time. */
  const waitOf = async (of: { isJob?: true }, areMany: boolean) => {
    const turn = { account: '1', ...of }
    const others = { areOver: !areMany, ended: Promise.resolve() }
    const ask = async () => {
      // The next is asked before the last is answered: there is always one, however slow this process is.
      for (let asked: Promise<unknown> | null = db.query('SELECT 1'); asked; ) {
        const next: Promise<unknown> | null = others.areOver ? null : db.query('SELECT 1')
        await asked
        asked = next
      }
    }
    const from = await db.transaction(turn, async tx => {
      others.ended = ask()
      for (const end = performance.now() + longMs; performance.now() < end; ) await tx.query(work)
      return { commits: true, result: performance.now() }
    })
    await db.transaction(turn, async () => ({ commits: true, result: null }))
    const tookMs = performance.now() - from
    others.areOver = true
    await others.ended
    return tookMs
  }
  const long = [await waitOf({}, false), await waitOf({ isJob: true }, true)]
  const short: number[] = []
  // The least of three: a rest never ends late, but this process may hear of it late.
  do short.push(await waitOf({ isJob: true }, false))
  while (short.length < 3 && short.at(-1)! >= longMs * 0.75)
  await db.close()
  assert.ok(Math.min(...long) > longMs * 0.95, long.join())
  assert.ok(Math.min(...short) < longMs * 0.75, short.join())
})

test('embedded: what the service does by itself waits as long as it takes, and no read is ended for it', async () => {
  const db = await openDatabase({
    waitMs: 300,
    yieldsAfterMs: 200,
    statementTimeoutMs: never,
    log() {},
  })
  await db.query('SELECT 1')
  const long = db.inTurn({ account: '1' }).query("SELECT 'slept' AS n FROM pg_sleep(1)")
  await turnOfLoop()
  const own = [
    db.background.query("SELECT 'read' AS n"),
    db.background.write('1', [{ text: "SELECT 'written' AS n", values: [] }]),
  ]
  const answers = await Promise.all([long, ...own])
  assert.deepEqual(
    answers.map(([row]) => row!.n),
    ['slept', 'read', 'written'],
  )
  await db.close()
})

test('embedded: while an account is read whole, all but background writes are refused that wait for long', async () => {
  const db = await openDatabase({ log() {} })
  await db.query('SELECT 1')
  const text = "SELECT 'written' AS n"
  const reading = db.whileUnwritten('1', () => sleep(10_500))
  const answers = await Promise.all([
    codeOf(db.write('1', [{ text, values: [] }])),
    codeOf(db.background.write('1', [{ text, values: [] }])),
    codeOf(db.transaction({ account: '1', isJob: true }, async () => ({ commits: true, result: null }))),
  ])
  await reading
  await db.close()
  assert.deepEqual(answers, [DatabaseUnavailable.name, 'answered', DatabaseUnavailable.name])
})

test('embedded: a read is ended for any request that waits behind it, of the same account too', async () => {
  const db = await openDatabase({ waitMs: never, statementTimeoutMs: never, log() {} })
  const long = codeOf(db.inTurn({ account: '1' }).query(endless))
  await turnOfLoop()
  assert.deepEqual(await Promise.all([long, codeOf(db.query('SELECT 1'))]), ['57014', 'answered'])
  await db.close()
})

test('embedded: a job has all the time it needs', async () => {
  const db = await openDatabase({ statementTimeoutMs: 300, log() {} })
  await db.queryWithoutTimeLimit('SELECT pg_sleep(1)')
  await db.sql.query('SELECT pg_sleep(1)', [])
  assert.equal(await codeOf(db.query(endless)), '57014')
  await db.close()
})

function serverSuite() {
  let db: Database
  let url: string
  before(async () => {
    url = await createDatabase(server!.url)
    db = await openDatabase({ url, poolSize, statementTimeoutMs: never, silenceMs: never, log() {} })
  })
  after(async () => {
    await db.close()
    await dropDatabase(url)
  })
  const underWay = async () => {
    const text = `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()
      AND state = 'active' AND query LIKE 'SELECT count(*) AS n FROM generate%'`
    const [row] = await db.query(text)
    return Number(row!.n)
  }

  test('a read is ended, also when the server hears of that before it has read the statement', async () => {
    const proxy = await startProxy(url)
    const limits = { statementTimeoutMs: never, silenceMs: never }
    const behind = await openDatabase({ url: proxy.url, poolSize, ...limits, log() {} })
    const read = (signal?: AbortSignal) => behind.inTurn({ account: '1', ...(signal && { signal }) })
    await read().query('SELECT 1')
    const { signal, abort } = abortable()
    proxy.holdBack()
    const ended = codeOf(read(signal).query(endless))
    await sleep(20)
    abort()
    await sleep(200)
    proxy.unblock()
    // It would end by the time limit of a statement.
    const late = sleep(20_000, 'late', { ref: false })
    assert.equal(await Promise.race([ended, late]), '57014')
    await behind.close()
    await proxy.close()
  })

  test('an account alone has all places, and half when another has asked', { timeout: 120_000 }, async () => {
    const readers = Array.from({ length: 12 }, abortable)
    const long = readers.map(({ signal }) => codeOf(db.inTurn({ account: '1', signal }).query(endless)))
    const areUnderWay = (count: number) =>
      eventually(async () => (await underWay()) === count, `${count} under way`)
    await areUnderWay(places)
    readers[0]!.abort()
    await long[0]
    await areUnderWay(places)
    // Waits until one of them is cancelled, and this is remembered.
    await quick(db, '2')
    for (const { abort } of readers.slice(0, places + 1)) abort()
    await Promise.all(long.slice(0, places + 1))
    await areUnderWay(places / 2)
    for (let turn = 0; turn < 3; turn++) {
      await quick(db, '2')
      assert.equal(await underWay(), places / 2)
    }
    for (const { abort } of readers) abort()
    await Promise.all(long)
    await areUnderWay(0)
  })

  test('quick reads of one turn of the event loop share a connection, and wait for nothing that is slow', async () => {
    const sleeping = 'SELECT pg_sleep(1), pg_backend_pid()::text AS pid'
    const slow = Array.from({ length: 3 }, () => db.query(sleeping))
    const quick = Array.from({ length: 40 }, () => db.queryBytes('SELECT pg_backend_pid()::text', []))
    const processes = (await Promise.all(quick)).map(([row]) => row![0]!.toString())
    const used = [...new Set(processes)]
    assert.deepEqual(
      used.map(one => processes.filter(other => other === one).length),
      [16, 16, 8],
    )
    for (const [row] of await Promise.all(slow)) assert.ok(!used.includes(row!.pid!))
  })

  test('reads that take long keep no quick statement and no transaction waiting', async () => {
    const { signal, abort } = abortable()
    const long = Array.from({ length: 50 }, () => codeOf(db.inTurn({ account: '1', signal }).query(endless)))
    await sleep(300)
    const asked = Array.from({ length: 100 }, (_, n) => db.query('SELECT $1::text AS n', [`${n}`]))
    for (const [n, rows] of (await Promise.all(asked)).entries()) assert.equal(rows[0]!.n, `${n}`)
    assert.equal((await db.sql.begin(tx => tx.query('SELECT 1 AS n', [])))[0]!.n, '1')
    assert.ok((await underWay()) > 0)
    abort()
    await Promise.all(long)
  })
}
