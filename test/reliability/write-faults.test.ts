/**
 * Faults amid a write (D164), however it is printed: before each of its statements and before its commit an
 * error, a lost connection, and a refused commit. Nothing is half done, and the same request, sent again, is
 * carried out once.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { accountTables, quoted } from '../../src/db/account-tables.ts'
import type { Database } from '../../src/db/open.ts'
import type { Json } from '../../src/json.ts'
import { statementsOf } from '../../src/mergeable-write.ts'
import { citusUrl } from '../support/citus.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/postgres.ts'
import { runService, temporaryFolder } from '../support/running-service.ts'
import { dealBody, type Reply, type Service, startService, v1 } from '../support/service.ts'

const isOnServer = process.env.TEST_ENGINE === 'postgres'
const failing = 'SELECT fail()'
const disconnecting = 'SELECT pg_terminate_backend(pg_backend_pid())'

/** A statement that goes before the `at`-th one of the writes from now on, or ends the last of them. */
type Fault = { readonly text: string; at: number; isOver: boolean }

/**
 * Columns of the tables whose rows change beside a write, too: a token's last use, until when the account
 * follows its configuration, reserved ids of fields, and how far the inboxes are.
 */
const counted: Readonly<Record<string, string>> = {
  account: 't.catalog_version',
  counter: 't.last_id, t.last_seq',
  token: 't.id, t.version',
  inbox_progress: 't.account_id',
}

for (const hasOnlyTransactions of [false, true]) {
  const service = await startService({ alone: true, database: { hasOnlyTransactions } })
  describe(hasOnlyTransactions ? 'as transactions' : 'as statements', () => suite(service))
}

test('a conflict is one in whatever language the server speaks', { skip: !isOnServer }, async t => {
  process.env.LANGUAGE = 'de'
  const server = await startPostgres(true)
  delete process.env.LANGUAGE
  if (!server) return t.skip('PostgreSQL is not installed')
  try {
    const settings = { DATABASE_URL: server.url, DATA_DIR: temporaryFolder('german') }
    const service = await runService({ ...settings, DATABASE_WRITES: 'transaction' })
    const made = await service.post(`${v1}/company`, { name: 'Many' })
    const { data } = (await made.json()) as { data: { id: number } }
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
    const changes = Array.from({ length: 20 }, (_, index) =>
      fetch(`${service.url}${v1}/company/${data.id}`, {
        ...{ method: 'PATCH', headers, body: JSON.stringify({ name: `Many ${index}` }) },
      }),
    )
    for (const reply of await Promise.all(changes)) assert.ok(reply.status < 500, await reply.text())
    await service.end()
  } finally {
    await server.stop()
  }
})

function suite(service: Service): void {
  const requests = requestsTo(service)
  const faults: { now: Fault | null } = { now: null }

  before(async () => {
    const unique = await service.call('PATCH', `${v1}/field/203`, { is_unique: true })
    assert.equal(unique.status, 200, unique.text)
    await service.db.query(`CREATE FUNCTION fail() RETURNS text LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'a fault' USING ERRCODE = 'disk_full'; END $$`)
    await service.db.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM fail(); RETURN NULL; END $$`)
    interruptible(service.db, faults)
  })

  for (const [what, name, text] of [
    ['an error', 'error', failing],
    ['a lost connection', 'connection', disconnecting],
  ] as const) {
    const skip = text === disconnecting && !isOnServer && 'the embedded engine has no connection to lose'
    test(`${what} before each statement: nothing is half done, nothing is done twice`, { skip }, async () => {
      let places = 0
      for (const [index, request] of requests.entries())
        places += await interrupted(service, faults, text, request, `${name}-${index}`)
      assert.ok(places > requests.length * 2, `${places} places`)
    })
  }

  const skip = citusUrl !== undefined && 'a cluster has no triggers'
  test('a commit that is refused: nothing is half done, nothing is done twice', { skip }, async () => {
    for (const [index, request] of requests.entries()) {
      const key = `commit-${index}`
      const asked = await request(key)
      const content = await contentOf(service.db)
      await service.db.query(`CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON event
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
      refused(await asked(key))
      await service.db.query('DROP TRIGGER refused ON event')
      assert.deepEqual(await contentOf(service.db), content, `request ${index}`)
      await doneOnce(service.db, () => asked(key))
    }
  })
}

/** Puts a new request for a write in place; it is sent with an Idempotency-Key. */
type Request = (name: string) => Promise<(key: string) => Promise<Reply>>

function requestsTo({ call, known, made }: Service): readonly Request[] {
  const send = (method: string, path: string, body?: Json) => (key: string) =>
    call(method, `${v1}/${path}`, body, { 'idempotency-key': key })
  const deal = (title: string) => made('deal', dealBody(known, { title }))
  const nested = (title: string) =>
    dealBody(known, {
      title,
      company: { name: `Of ${title}` },
      primary_contact: { last_name: `By ${title}` },
    })
  return [
    async name => send('POST', 'deal', dealBody(known, { title: name })),
    async name => send('POST', 'deal', nested(name)),
    async name => send('PATCH', `deal/${(await deal(name)).id}`, { title: `${name}, later`, tags: [] }),
    async name => send('PUT', `product/by/product_code/${encodeURIComponent(name)}`, { name }),
    async name => {
      const { id } = await deal(name)
      await made('activity', { subject: name, kind: 1, deal: id })
      return send('DELETE', `deal/${id}`)
    },
    async name => {
      const { id } = await deal(name)
      assert.equal((await call('DELETE', `${v1}/deal/${id}`)).status, 200)
      return send('POST', `deal/${id}/restore`)
    },
    async name => {
      const { id } = await made('product', { name, product_code: `batch ${name}` })
      const { id: gone } = await made('product', { name: `${name}, gone` })
      const operations = [
        { op: 'create', data: { name: `${name}, one`, product_code: `one ${name}` } },
        { op: 'create', data: { name: `${name}, two` } },
        { op: 'update', id, data: { name: `${name}, changed` } },
        { op: 'delete', id: gone },
      ]
      return send('POST', 'product/batch', { operations, atomic: true })
    },
    async name => {
      const operations = ['one', 'two'].map(one => ({ op: 'create', data: nested(`${name} ${one}`) }))
      return send('POST', 'deal/batch', { operations, atomic: true })
    },
    async name => send('POST', 'field', { source: 'deal', field_name: name, type: 'TEXT' }),
  ]
}

/** Sends a request until a fault has come at each of its places; returns their number. */
async function interrupted(
  service: Service,
  faults: { now: Fault | null },
  text: string,
  request: Request,
  name: string,
): Promise<number> {
  const asked = await request(name)
  for (let at = 0; ; at++) {
    const content = await contentOf(service.db)
    const fault: Fault = { text, at, isOver: false }
    faults.now = fault
    const reply = await asked(name)
    faults.now = null
    if (!fault.isOver) {
      await doneOnce(service.db, () => asked(name), reply)
      return at
    }
    refused(reply)
    await eventually(async () => (await service.get('/readyz')).status === 200, 'readiness')
    assert.deepEqual(await contentOf(service.db), content, `${name}, place ${at}`)
  }
}

function refused(reply: Reply): void {
  assert.equal(reply.status, 503, reply.text)
  assert.equal(reply.body.code, 9002)
}

/** Asserts that a request succeeds, and that, sent again, it answers the same and does nothing. */
async function doneOnce(db: Database, send: () => Promise<Reply>, first?: Reply): Promise<void> {
  const reply = first ?? (await send())
  assert.ok(reply.status < 300, reply.text)
  const content = await contentOf(db)
  const again = await send()
  assert.deepEqual([again.status, again.body.data], [reply.status, reply.body.data])
  assert.deepEqual(await contentOf(db), content)
}

/** The content of each account's table, as a hash. */
async function contentOf(db: Database): Promise<Record<string, string | null>> {
  const { tables } = await accountTables(text => db.query(text))
  const hash = ({ name }: { readonly name: string }) => {
    const row = `md5((${counted[name] ?? 't'})::text)`
    return `(SELECT md5(string_agg(${row}, '' ORDER BY ${row})) FROM ${quoted(name)} t) AS ${quoted(name)}`
  }
  const [row] = await db.query(`SELECT ${tables.map(hash).join()}`)
  return { ...row }
}

/** Makes the writes of a database fail where the fault says. */
function interruptible(db: Database, faults: { now: Fault | null }): void {
  const wrapped =
    (write: Database['write']): Database['write'] =>
    (account, content) => {
      const fault = faults.now
      if (!fault || fault.isOver) return write(account, content)
      const own = statementsOf(content)
      const { at } = fault
      fault.at -= own.length + 1
      if (at > own.length) return write(account, own)
      fault.isOver = true
      return write(account, own.toSpliced(at, 0, { text: fault.text, values: [] }))
    }
  const { write, transaction } = db
  db.write = wrapped(write)
  db.transaction = (options, act) => transaction(options, tx => act({ ...tx, write: wrapped(tx.write) }))
}
