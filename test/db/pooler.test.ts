/**
 * PgBouncer in transaction mode between the service and PostgreSQL (D166): everything works, and no setting
 * of a transaction is left on a connection that the next client gets.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { firstStart } from '../../src/accounts/first-start.ts'
import { createSample } from '../../src/accounts/sample/sample.ts'
import { migrate } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { PostgresError } from '../../src/db/postgres/wire.ts'
import { poolerVersion, startPooler, type TestPooler } from '../support/pooler.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { dealBody, type Service, startService, v1 } from '../support/service.ts'
import { timeouts } from '../support/timeouts.ts'

const server = poolerVersion() === null ? null : await startPostgres()
const skip = server === null && 'PgBouncer or PostgreSQL is not installed'
const pooler: TestPooler | null = server && (await startPooler(server.url, 5))
const behind = { prepares: false }
const service = pooler && (await startService({ url: await place(), database: { pooler: behind } }))
after(async () => {
  await pooler?.stop()
  await server?.stop()
})

/** The address of a new database behind the pooler. */
async function place(): Promise<string> {
  const url = new URL(await createDatabase(server!.url))
  url.port = new URL(pooler!.url).port
  return url.href
}

describe('behind PgBouncer', { skip }, () => {
  const { call, get, made, known } = service as Service

  test('records, batches, lists, reports, exports and configuration', async () => {
    const deal = await made('deal', dealBody(known, { title: 'Pooled', company: { name: 'Behind Ltd' } }))
    const changed = await call('PATCH', `${v1}/deal/${deal.id}`, { title: 'Pooled, later' })
    assert.deepEqual([changed.status, changed.body.data.version], [200, 2], changed.text)
    const operations = Array.from({ length: 300 }, (_, n) => ({ op: 'create', data: { name: `P ${n}` } }))
    const batch = await call('POST', `${v1}/product/batch`, { operations, atomic: true })
    assert.equal(batch.body.meta?.succeeded, 300, batch.text)
    const found = await get(`${v1}/deal/view/list?filter=title:like(Pooled)`)
    assert.equal(found.body.data.length, 1, found.text)
    const field = await call('POST', `${v1}/field`, { source: 'deal', field_name: 'Pooled', type: 'TEXT' })
    assert.equal(field.status, 201, field.text)
    const file = await get(`${v1}/product/export?format=csv`)
    assert.equal(file.status, 200, file.text)
    assert.ok(file.text.split('\n').length > 300)
    assert.equal((await call('DELETE', `${v1}/deal/${deal.id}`)).status, 200)
  })

  test('many clients at once on five connections: each has its own answer', async () => {
    const replies = await Promise.all(
      Array.from({ length: 120 }, async (_, n) => {
        const title = `Client ${n}`
        const deal = await made('deal', dealBody(known, { title }))
        const [read, list] = await Promise.all([
          get(`${v1}/deal/${deal.id}`),
          get(`${v1}/deal/view/list?filter=title:eq(${encodeURIComponent(title)})`),
        ])
        return [read.body.data.title, list.body.data.map((one: { id: number }) => one.id).join()] as const
      }),
    )
    assert.deepEqual(
      replies.map(([title]) => title),
      Array.from({ length: 120 }, (_, n) => `Client ${n}`),
    )
    assert.equal(new Set(replies.map(([, id]) => id)).size, 120)
  })
})

test('processes begin one after the other, and each creates an account', { skip }, async () => {
  const db = { url: await place(), pooler: behind }
  const names = ['One', 'Two', 'Three']
  const opened = await Promise.all(
    names.map(() => openDatabase({ ...db, ...timeouts(), log: () => {}, poolSize: 3 })),
  )
  after(() => Promise.all(opened.map(one => one.close())))
  await migrate(opened[0]!)
  for (const one of opened) await firstStart(one, { now: new Date(), sampleData: false, createSample })
  for (const [index, name] of names.entries()) {
    const owner = { ownerName: 'Owner', ownerEmail: 'owner@example.com' }
    const { account } = await createAccount(opened[index]!, { name, ...owner })
    assert.equal(account, index + 2)
  }
})

describe('time limits behind PgBouncer', { skip }, () => {
  let db: Database
  let url: string
  before(async () => {
    url = await place()
    db = await openDatabase({ url, ...timeouts(), statementTimeoutMs: 1000, pooler: behind, log: () => {} })
  })
  after(() => db?.close())

  const settings = `SELECT current_setting('statement_timeout') AS statement,
    current_setting('lock_timeout') AS lock, current_setting('jit') AS jit`

  test('each statement has them, in a transaction, too', async () => {
    const expected = [{ statement: '1s', lock: '500ms', jit: 'off' }]
    assert.deepEqual(await db.query(settings), expected)
    assert.deepEqual(await db.sql.begin(tx => tx.query(settings, [])), expected)
    const mode = 'ISOLATION LEVEL REPEATABLE READ READ ONLY'
    assert.deepEqual(await db.sql.begin(tx => tx.query(settings, []), mode), expected)
    assert.deepEqual(
      (
        await db.sql.batch([
          ['SELECT 1', []],
          [settings, []],
        ])
      ).at(1),
      expected,
    )
    const cancelled = (error: unknown) => error instanceof PostgresError && error.code === '57014'
    await assert.rejects(db.query('SELECT pg_sleep(20)'), cancelled)
    await assert.rejects(
      db.sql.begin(tx => tx.query('SELECT pg_sleep(20)', [])),
      cancelled,
    )
  })

  test('whoever gets the connection next has none of them', async () => {
    await Promise.all(Array.from({ length: 20 }, () => db.query('SELECT 1')))
    const other = await openDatabase({ url, ...timeouts(), pooler: behind, log: () => {} })
    // Without a limit, as a migration that builds an index.
    const rows = await Promise.all(
      Array.from({ length: 5 }, () => other.queryWithoutTimeLimit(settings)),
    ).finally(() => other.close())
    for (const [row] of rows) assert.deepEqual(row, { statement: '0', lock: '0', jit: 'on' })
  })

  test('a refused statement of a batch is named, and the batch is rolled back', async () => {
    await db.query('CREATE TABLE held (n int)')
    const batch = db.sql.batch([
      ['INSERT INTO held VALUES (1)', []],
      ['SELECT 1 / $1::int', ['0']],
    ])
    await assert.rejects(batch, { name: 'OneRefused', which: 1 })
    assert.deepEqual(await db.query('SELECT n FROM held'), [])
  })

  test('without the setting, the start says what to do', async () => {
    await assert.rejects(openDatabase({ url, ...timeouts(), log: () => {} }), (error: Error) => {
      assert.match(error.message, /DATABASE_POOLER=1/)
      return true
    })
  })
})
