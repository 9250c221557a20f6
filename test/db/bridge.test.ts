/** The wire to the database: every answer goes to its statement, whatever happens around it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Database, openDatabase, type PoolTransaction } from '../../src/db/open.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'
import { eventually } from '../support/eventually.ts'
import { createDatabase, dropDatabase, startPostgres, type TestServer } from '../support/postgres.ts'
import { timeouts } from '../support/timeouts.ts'

const log = () => {}
const server = await startPostgres()
after(() => server?.stop())

describe('embedded', () => suite(async () => ({})))
describe('PostgreSQL', { skip: !server && 'no PostgreSQL here' }, () => {
  suite(async () => ({ url: await createDatabase(server!.url) }))
  test('a transaction whose connection is lost is lost as a whole', async () => {
    const url = await createDatabase(server!.url)
    await lostTransaction(url)
    await dropDatabase(url)
  })
  test('a statement without a time limit has none of its database either', async () => {
    const url = await createDatabase(server!.url)
    const db = await openDatabase({ url, ...timeouts(), log })
    const name = new URL(url).pathname.slice(1)
    for (const limit of ['statement_timeout', 'lock_timeout'])
      await db.query(`ALTER DATABASE ${name} SET ${limit} = '100ms'`)
    assert.equal((await db.queryWithoutTimeLimit('SELECT 1 AS one FROM pg_sleep(0.3)')).length, 1)
    assert.deepEqual(await db.queryWithoutTimeLimit('SHOW lock_timeout'), [{ lock_timeout: '0' }])
    await db.close()
    await dropDatabase(url)
  })
  test('a server that is gone is unavailable, and is found again when it is back', async t => {
    const own = await startPostgres(true)
    if (!own) return t.skip('PostgreSQL is not installed')
    await outage(own).finally(() => own.stop())
  })
})

function suite(place: () => Promise<{ url?: string }>) {
  let db: Database
  let where: { url?: string }
  before(async () => {
    where = await place()
    db = await openDatabase({ ...where, ...timeouts(), log })
    await db.query('CREATE TABLE item (id bigint PRIMARY KEY, text text)')
  })
  after(async () => {
    await db.close()
    if (where.url) await dropDatabase(where.url)
  })

  test('32 at a time, errors and transactions in between: every answer is the right one', () =>
    interleaved(db))

  test('every value is text, exactly as PostgreSQL prints it', async () => {
    const [row] =
      await db.query(`SELECT 1 AS i, 9007199254740993 AS l, 1.10::numeric AS n, 0.1::float8 AS f, true AS b, NULL AS nothing,
      '2024-02-29'::date AS d, '2024-02-29 12:00:00.123456+00'::timestamptz AS t, '{"a": 1.10}'::json AS j, '\\xff'::bytea AS y`)
    assert.deepEqual(
      { ...row },
      {
        i: '1',
        l: '9007199254740993',
        n: '1.10',
        f: '0.1',
        b: 't',
        nothing: null,
        d: '2024-02-29',
        t: '2024-02-29 12:00:00.123456+00',
        j: '{"a": 1.10}',
        y: '\\xff',
      },
    )
  })

  test('parameters are text: nothing is converted on the way', async () => {
    const params = [
      '{"a": 1.10}',
      '"text"',
      'true',
      '9007199254740993',
      '2024-02-29',
      '2024-02-29T12:00:00Z',
      '\\xff',
      '{1,2}',
      null,
    ]
    const text =
      'SELECT $1::json::text AS a, $2::jsonb::text AS b, $3::boolean AS c, $4::bigint AS d, $5::date AS e, $6::timestamptz AS f, $7::bytea AS g, $8::int[] AS h, $9::text AS i'
    // unprepared, prepared, and prepared before
    for (const _ of [1, 2, 3]) {
      const [row] = await db.query(text, params)
      const expected = [
        '{"a": 1.10}',
        '"text"',
        't',
        '9007199254740993',
        '2024-02-29',
        '2024-02-29 12:00:00+00',
        '\\xff',
        '{1,2}',
        null,
      ]
      assert.deepEqual(Object.values(row!), expected)
    }
  })

  test('megabytes go through both ways', async () => {
    const big = 'ä'.repeat(3_000_000)
    const [one, two] = await Promise.all([
      db.query('SELECT $1::text AS text', [big]),
      db.query(`SELECT n::text AS n, repeat('x', 1000) AS text FROM generate_series(1, 5000) n`),
    ])
    assert.equal(one[0]!.text, big)
    assert.equal(two.length, 5000)
    assert.ok(two.every((row, index) => row.n === `${index + 1}` && row.text!.length === 1000))
  })

  test('one text is one statement', async () => {
    await assert.rejects(db.query('SELECT 1; SELECT 2'), { code: '42601' })
  })

  test('a transaction in which a statement failed is not committed, and after its end nothing is asked in it', async () => {
    await db.query('CREATE TABLE whole (id bigint PRIMARY KEY)')
    const insert = 'INSERT INTO whole VALUES ($1::bigint)'
    let kept: PoolTransaction | undefined
    const swallowed = db.sql.begin(async tx => {
      kept = tx
      await tx.query(insert, ['1'])
      await tx.query(insert, ['1']).catch(() => {})
    })
    await assert.rejects(swallowed, { code: '23505' })
    const forgotten = db.sql.begin(async tx => {
      await tx.query(insert, ['2'])
      tx.query(insert, ['2']).catch(() => {})
    })
    await assert.rejects(forgotten, { code: '23505' })
    await assert.rejects(kept!.query(insert, ['3']), /is over/)
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const late = { ask: async () => {} }
        const failing = db.sql.begin(async tx => {
          late.ask = () => tx.query(insert, [`${10 + n}`]).then(() => {})
          await tx.query('SELECT 1 / 0', [])
        })
        await assert.rejects(failing, { code: '22012' })
        await assert.rejects(late.ask())
      }),
    )
    assert.equal((await db.query('SELECT count(*) AS n FROM whole'))[0]!.n, '0')
  })

  test('prepared statements survive changes of their tables, at 32 at a time', () => altered(db))

  test('what is prepared and then fails is prepared once on a connection', async () => {
    const failing = 'SELECT 1 / $1::int AS often'
    for (let turn = 0; turn < 10; turn++) {
      await Promise.all(
        Array.from({ length: 10 }, () => assert.rejects(db.query(failing, ['0']), { code: '22012' })),
      )
    }
    const counts = Array.from({ length: 20 }, () =>
      db.query('SELECT count(*) AS n FROM pg_prepared_statements WHERE statement = $1::text', [failing]),
    )
    for (const [row] of await Promise.all(counts)) assert.ok(Number(row!.n) <= 1, `${row!.n} times`)
  })

  test('readiness, and what comes after the end', async () => {
    assert.equal(await db.ready(), true)
    const other = await openDatabase({ ...where, ...timeouts(), log })
    await other.close()
    await other.close()
    assert.equal(await other.ready(), false)
    await assert.rejects(other.query('SELECT 1'), DatabaseUnavailable)
  })
}

async function interleaved(db: Database): Promise<void> {
  const kinds: ((n: number) => Promise<unknown>)[] = [
    async n => assert.equal((await db.query('SELECT $1::int + 1 AS n', [`${n}`]))[0]!.n, `${n + 1}`),
    async n =>
      assert.equal(
        (await db.query('INSERT INTO item VALUES ($1::bigint, $2) RETURNING text', [`${n}`, `t${n}`]))[0]!
          .text,
        `t${n}`,
      ),
    n =>
      assert.rejects(db.query('INSERT INTO item SELECT $1::bigint FROM generate_series(1, 2)', [`${n}`]), {
        code: '23505',
      }),
    n => assert.rejects(db.query('SELECT 1 / ($1::int - $1::int)', [`${n}`]), { code: '22012' }),
    n => assert.rejects(db.query(`SELEC ${n}`), { code: '42601' }),
    async n => assert.equal((await db.query(`SELECT ${n} AS n`))[0]!.n, `${n}`),
    n =>
      db.sql.begin(async tx => {
        await tx.query(`INSERT INTO item VALUES ($1::bigint, 'tx')`, [`${n}`])
        const [row] = await tx.query('SELECT text FROM item WHERE id = $1::bigint', [`${n}`])
        assert.equal(row!.text, 'tx')
      }),
    n =>
      assert.rejects(
        db.sql.begin(async tx => {
          await tx.query(`INSERT INTO item VALUES ($1::bigint, 'rolled back')`, [`${n}`])
          await tx.query('SELECT 1 / 0')
        }),
        { code: '22012' },
      ),
  ]
  let next = 0
  const lane = async () => {
    while (next < 1600) {
      const n = next++
      await kinds[n % kinds.length]!(n)
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  const [row] = await db.query(
    `SELECT count(*) AS all, count(*) FILTER (WHERE text = 'rolled back') AS undone FROM item`,
  )
  assert.deepEqual({ ...row }, { all: '400', undone: '0' })
}

async function altered(db: Database): Promise<void> {
  await db.query('CREATE TABLE shape (id int)')
  await db.query('INSERT INTO shape SELECT generate_series(0, 99)')
  let isDone = false
  const lane = async (_: unknown, offset: number) => {
    for (let n = offset; !isDone; n = (n + 1) % 100) {
      const text = n % 2 ? 'SELECT * FROM shape WHERE id = $1::int' : 'SELECT $1::text AS id'
      assert.equal((await db.query(text, [`${n}`]))[0]!.id, `${n}`)
    }
  }
  const lanes = Promise.all(Array.from({ length: 32 }, lane))
  for (let n = 0; n < 20; n++) {
    await db.query(`ALTER TABLE shape ADD COLUMN c${n} int`)
    for (let turn = 0; turn < 5; turn++) await db.query('SELECT 1')
  }
  isDone = true
  await lanes
  assert.equal(Object.keys((await db.query('SELECT * FROM shape WHERE id = $1::int', ['1']))[0]!).length, 21)
}

async function lostTransaction(url: string): Promise<void> {
  const db = await openDatabase({ url, ...timeouts(), log, poolSize: 1 })
  const other = await openDatabase({ url, ...timeouts(), log })
  await db.query('CREATE TABLE half (id int)')
  const { promise: late, resolve } = Promise.withResolvers<Promise<unknown>>()
  const broken = db.sql.begin(async tx => {
    const [row] = await tx.query('SELECT pg_backend_pid() AS pid', [])
    await tx.query('INSERT INTO half VALUES (1)')
    await other.query('SELECT pg_terminate_backend($1::int, 5000)', [row!.pid!])
    // The client's only connection is reopened before the transaction goes on.
    await eventually(() => db.ready(), 'a database that is ready')
    resolve(tx.query('INSERT INTO half VALUES (2)'))
  })
  await assert.rejects(broken)
  // The transaction has failed for its caller by now, but its function still runs.
  await assert.rejects(
    late.then(statement => statement),
    DatabaseUnavailable,
  )
  assert.equal((await db.query('SELECT count(*) AS n FROM half'))[0]!.n, '0')
  await Promise.all([db.close(), other.close()])
}

async function outage(server: TestServer): Promise<void> {
  const db = await openDatabase({ url: server.url, log, poolSize: 2 })
  await server.kill9()
  // A server's process lives on until it notices that the server has died.
  const askedOn = async () => {
    for (;;) await db.query('SELECT 1')
  }
  await assert.rejects(askedOn(), DatabaseUnavailable)
  assert.equal(await db.ready(), false)
  await server.restart()
  await eventually(() => db.ready(), 'a database that is ready')
  assert.equal((await db.query('SELECT 1 AS n'))[0]!.n, '1')
  await db.close()
}
