/**
 * An export is a snapshot, whatever is written meanwhile (D81). It takes a permit and, on a server, a
 * connection, and releases them however it ends. A truncated file is detectable. Slow clients:
 * export-readers.test.ts.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get as ask, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { Callers } from '../../src/accounts/callers.ts'
import type { Json } from '../../src/json.ts'
import { NameLookup } from '../../src/records/name-lookup.ts'
import { resources } from '../../src/resources/resources.ts'
import { openExport } from '../../src/work/exports/export.ts'
import { readExportQuery } from '../../src/work/exports/query.ts'
import { answered, eventually } from '../support/eventually.ts'
import { makeManyDeals } from '../support/many-deals.ts'
import { startService, v1 } from '../support/service.ts'

const said: string[] = []
const log = pino({ level: 'warn' }, { write: line => void said.push(line) })
const service = await startService({ log })
const { url, token, call, get, db } = service
/** The connections of exports. */
const held = "datname = current_database() AND state <> 'idle' AND query ~ '^(FETCH|DECLARE)'"
const isServer = db.engine === 'postgres'
// More than the sockets between a service and an idle client buffer.
await makeManyDeals(db, 12_000)
const total = 12_300

/** Begins an export, and reads nothing of it. */
async function begun(query = 'format=jsonl', as = token): Promise<IncomingMessage> {
  const asked = ask(`${url}${v1}/deal/export?${query}`, {
    headers: { authorization: `Bearer ${as}` },
    agent: false,
  })
  const [reply] = (await once(asked, 'response')) as [IncomingMessage]
  // Without listeners Node.js ignores a truncated answer, or ends the process for it.
  asked.on('error', () => {})
  return reply.on('error', () => {})
}

async function textOf(reply: IncomingMessage): Promise<string> {
  return (await reply.setEncoding('utf8').toArray()).join('')
}

async function leave(reply: IncomingMessage): Promise<void> {
  reply.destroy()
  await once(reply, 'close')
}

/** Their number. */
async function heldOpen(): Promise<number> {
  const [row] = await db.query(`SELECT count(*)::text AS held FROM pg_stat_activity WHERE ${held}`)
  return Number(row!.held)
}

const until = (holds: () => boolean | Promise<boolean>) => eventually(holds, 'what was waited for')

/** An export by the parts of the service, which report progress. */
async function exported(query: string, onRecords: (count: number) => void): Promise<string> {
  const caller = (await new Callers(db, resources, () => performance.now()).identify(token))!
  const schema = caller.catalog.resources.get('deal')!
  const parameters = new Map(
    [...new URLSearchParams(query)].map(([name, value]): [string, string[]] => [name, [value]]),
  )
  const request = readExportQuery(
    parameters,
    schema,
    caller.catalog,
    new Date().toISOString(),
    new NameLookup(),
  )
  const quota = { take: () => true, release() {}, say: (line: string) => assert.fail(line) }
  const ended = new AbortController().signal
  const { content } = await openExport(db, { caller, request, onRecords, ended, quota })
  return (await content.setEncoding('utf8').toArray()).join('')
}

const rename = async (id: number, title: string) => {
  // While all records are read, a write waits for some seconds, and is refused then.
  const reply = await answered(() => call('PATCH', `${v1}/deal/${id}`, { title }))
  assert.equal(reply.status, 200, reply.text)
}
const titlesOf = (text: string) =>
  new Map(
    text
      .trimEnd()
      .split('\n')
      .map(line => {
        const { id, title } = JSON.parse(line)
        return [id, title] as const
      }),
  )

test('what is written meanwhile shows either everywhere or nowhere', async () => {
  const [first, last, gone] = [1000, 12_999, 6000]
  for (const id of [first, last]) await rename(id, 'before')
  let writes: Promise<unknown> | undefined
  const text = await exported('format=jsonl&sort=id:asc', () => {
    // The last one first, which is read last.
    writes ??= rename(last, 'after')
      .then(() => rename(first, 'after'))
      .then(() => call('DELETE', `${v1}/deal/${gone}`))
  })
  await writes
  const titles = titlesOf(text)
  const isAfter = titles.get(first) === 'after'
  if (isAfter) assert.equal(titles.get(last), 'after')
  if (!titles.has(gone)) assert.ok(isAfter)
  assert.equal(titles.size, titles.has(gone) ? total : total - 1)
  // A server's snapshot was taken before the first record came.
  if (isServer)
    assert.deepEqual([titles.get(first), titles.get(last), titles.has(gone)], ['before', 'before', true])
  await call('POST', `${v1}/deal/${gone}/restore`)
})

test('an account that never stops writing is exported, as of one moment, and its writes go on', async () => {
  for (const id of [1000, 12_999]) await rename(id, '0')
  let isOver = false
  let count = 0
  const writing = (async () => {
    // The first is never behind the last.
    while (!isOver) {
      const title = String(++count)
      await rename(1000, title)
      await rename(12_999, title)
    }
  })()
  // Concurrent writers, some of which the export makes wait.
  const others = [2000, 3000, 4000, 5000].map(async id => {
    while (!isOver) await rename(id, 'busy')
  })
  const titles = titlesOf(await exported('format=jsonl&sort=id:asc', () => {}))
  const read = count
  const [first, last] = [titles.get(1000)!, titles.get(12_999)!]
  assert.ok(first === last || Number(first) === Number(last) + 1, `${first} ${last}`)
  await until(async () => count > read)
  isOver = true
  await Promise.all([writing, ...others])
})

test('what follows the configuration is of one moment, too, though its changes have no events', async () => {
  const behind = (by: number) =>
    db.query(`UPDATE account SET derived_version = derived_version - ${by} WHERE account_id = 1`)
  // An amount in base currency is changed like this, while the records follow a new rate.
  const change = (id: number, version: number) =>
    db.background.write('1', [{ text: `UPDATE deal SET version = ${version} WHERE id = ${id}`, values: [] }])
  let count = 10_000
  for (const id of [1000, 12_999]) await change(id, count)
  await behind(1)
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      count++
      await change(1000, count)
      await change(12_999, count)
    }
  })()
  const text = await exported('format=jsonl&sort=id:asc', () => {})
  isOver = true
  await writing
  await behind(-1)
  const all = text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
  const [first, last] = [1000, 12_999].map(id => all.find(deal => deal.id === id).version)
  assert.ok(first === last || first === last + 1, `${first} ${last}`)
})

test('a client that reads slowly gets all of it, and keeps nobody waiting', async () => {
  const reply = await begun('format=csv')
  assert.equal((await get(`${v1}/deal/1000`)).status, 200)
  await rename(1001, 'meanwhile')
  await delay(300)
  const text = await textOf(reply)
  assert.equal(reply.complete, true)
  assert.ok(!text.includes('meanwhile'))
  assert.equal(text.split('\r\n').length - 2 >= total, true)
})

test('an account has two exports at a time, and a place that is left is free again', async () => {
  const [one, two] = [await begun(), await begun('format=csv')]
  const refused = await get(`${v1}/deal/export`)
  assert.deepEqual([refused.status, refused.body.code], [429, 6004])
  assert.equal(refused.headers.get('retry-after'), '10')
  // A refused request takes none.
  assert.equal((await get(`${v1}/deal/export?format=pdf`)).status, 400)
  // Their connections are released at once.
  if (isServer) await until(async () => (await heldOpen()) === 0)
  await leave(one)
  await until(async () => (await get(`${v1}/tag/export`)).status === 200)
  await leave(two)
  const [again, other] = [await begun(), await begun()]
  for (const reply of [again, other]) assert.equal((await textOf(reply)).split('\n').length, total + 1)
  await until(async () => (await get(`${v1}/tag/export`)).status === 200)
})

test('a client that leaves before the answer begins frees its place', async () => {
  for (let round = 0; round < 6; round++) {
    const asked = ask(`${url}${v1}/deal/export?format=xlsx&sort=description:asc`, {
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    }).on('error', () => {})
    await delay(round * 15)
    asked.destroy()
  }
  await until(async () => (await get(`${v1}/tag/export`)).status === 200)
  if (isServer) await until(async () => (await heldOpen()) === 0)
  const [one, two] = [await begun(), await begun()]
  await Promise.all([leave(one), leave(two)])
})

test('an export that fails in the middle ends its connection, and not the file', async t => {
  if (!isServer) return t.skip('it is made before it is sent')
  await until(async () => (await heldOpen()) === 0)
  // Workbooks take longest.
  const reply = await begun('format=xlsx')
  const end = `SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE ${held}`
  await until(async () => (await db.query(end)).length === 1)
  await assert.rejects(textOf(reply), `${reply.complete}`)
  assert.equal(reply.complete, false)
  const lines = said.filter(line =>
    /An export failed while it was sent: DatabaseUnavailable: terminating connection/.test(line),
  )
  assert.equal(lines.length, 1, said.join(''))
  await until(async () => (await get(`${v1}/tag/export`)).status === 200)
})

test('an export is cut off within a second after its caller ended, or sees something else', async () => {
  const made = async (path: string, body: { [name: string]: Json }) => {
    const reply = await call('POST', `${v1}/${path}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data
  }
  const changed = async (path: string, body: { [name: string]: Json }) =>
    assert.equal((await call('PATCH', `${v1}/${path}`, body)).status, 200)
  const role = await made('role', { name: 'Reads deals', scopes: ['deal:read'] })
  const user = await made('user', { name: 'Reader', email: 'reader@example.com', role: role.id })
  const asking = () => made('token', { name: 'Export', scopes: ['deal:read'], user: user.id })
  for (const [what, end, isCut] of [
    ['name', async () => changed(`role/${role.id}`, { name: 'Reads' }), false],
    ['token', async (id: number) => void (await call('DELETE', `${v1}/token/${id}`)), true],
    ['hidden', async () => changed(`role/${role.id}`, { hidden_fields: ['deal.deal_value'] }), true],
    ['own', async () => changed(`role/${role.id}`, { visibility: { deal: 'own' } }), true],
  ] as const) {
    const { id, token } = await asking()
    const reply = await begun('format=jsonl&sort=id:asc', token)
    await end(id)
    await delay(2000)
    const text = await textOf(reply).catch(() => null)
    assert.deepEqual([what, reply.complete, text === null], [what, !isCut, isCut])
    // Each of them sees all deals again.
    if (isCut) await changed(`role/${role.id}`, { hidden_fields: [], visibility: { deal: 'all' } })
  }
  await until(async () => (await get(`${v1}/tag/export`)).status === 200)
})

test('long records are exported one by one', async () => {
  const long = '\u{1F4BC}'.repeat(32_000)
  for (const id of [1500, 1501, 9000]) {
    const reply = await call('PATCH', `${v1}/deal/${id}`, { cf_custom_large_txt_field: long })
    assert.equal(reply.status, 200, reply.text)
  }
  const lines = (await textOf(await begun('format=jsonl&sort=id:asc'))).split('\n')
  assert.equal(lines.length, total + 1)
  const ids = lines.slice(0, -1).map(line => Number(/^{"id":(\d+)/.exec(line)![1]))
  assert.deepEqual(
    ids,
    ids.toSorted((one, other) => one - other),
  )
  for (const id of [1500, 1501, 9000]) assert.ok(lines[ids.indexOf(id)]!.length > 64_000)
})
