/**
 * Faults of the network to a PostgreSQL server: silence, cuts, a lost answer to a commit. Requests fail soon;
 * nothing is done twice.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { withSource } from '../../src/backup/source.ts'
import type { Command } from '../../src/cli/command.ts'
import { onDatabase } from '../../src/cli/database.ts'
import { readConfig } from '../../src/config.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { answered, eventually } from '../support/eventually.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { startProxy } from '../support/proxy.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const server = await startPostgres()
const options = { skip: server === null && 'PostgreSQL is not installed' }
const proxy = server && (await startProxy(await createDatabase(server.url)))
// Statements have no time limit of their own: an earlier answer has not waited for it.
const service =
  proxy &&
  (await startService({ url: proxy.url, statementTimeoutMs: 600_000, database: { silenceMs: 3000 } }))
after(async () => {
  await proxy?.close()
  await server?.stop()
})

const list = `${v1}/deal/view/list?pageSize=1`
const recovered = () => eventually(async () => (await service!.get(list)).status === 200, 'an answer', 50)

test('a database that falls silent: 503 with Retry-After, health stays quick, and it recovers by itself', {
  ...options,
  timeout: 300_000,
}, async () => {
  await recovered()
  proxy!.block()
  const writes = [1, 2].map(count =>
    service!.call('POST', `${v1}/deal`, dealBody(service!.known, { title: `Silent ${count}` })),
  )
  const reads = [1, 2, 3].map(() => service!.get(list))
  for (const reply of await Promise.all([...writes, ...reads])) {
    assert.deepEqual([reply.status, reply.body.code, reply.headers.get('retry-after')], [503, 9002, '1'])
  }
  // From then on nothing waits at all.
  const replies = await Promise.all(Array.from({ length: 100 }, () => service!.get(list)))
  assert.ok(replies.every(reply => reply.status === 503))
  assert.equal((await service!.get('/healthz')).status, 200)
  assert.equal((await service!.get('/readyz')).status, 503)
  proxy!.unblock()
  await recovered()
})

test(
  'connections that are cut: 503 or an answer, never a fault, and it recovers by itself',
  options,
  async () => {
    const under = Array.from({ length: 20 }, () => service!.get(list))
    proxy!.cut()
    for (const reply of await Promise.all([
      ...under,
      ...Array.from({ length: 20 }, () => service!.get(list)),
    ])) {
      assert.ok(
        reply.status === 200 || (reply.status === 503 && reply.headers.get('retry-after')),
        reply.text,
      )
    }
    proxy!.heal()
    await recovered()
  },
)

test(
  'the answer to a commit is lost: sent again with its key, the write is there once',
  options,
  async () => {
    for (let round = 0; round < 5; round++) {
      const title = `Lost answer ${round}`
      const send = () =>
        service!.call('POST', `${v1}/deal`, dealBody(service!.known, { title }), {
          'idempotency-key': `lost-${round}`,
        })
      proxy!.loseAnswers()
      const lost = await send()
      assert.equal(lost.status, 503, lost.text)
      proxy!.heal()
      await recovered()
      const again = await answered(send)
      assert.equal(again.status, 201, again.text)
      const [row] = await service!.db.query(
        'SELECT count(*)::text AS count, max(id)::text AS id FROM deal WHERE title = $1::text',
        [title],
      )
      assert.deepEqual([row!.count, row!.id], ['1', String(again.body.data.id)])
    }
  },
)

test(
  'commands and backups wait longer for a silent database, as nobody waits behind them',
  options,
  async () => {
    const afterSilence = async (db: Database) => {
      proxy!.block()
      setTimeout(() => proxy!.unblock(), 3000)
      const [row] = await db.query('SELECT 1 AS one')
      return row!.one!
    }
    const act: Command['act'] = async db => ({ text: '', data: { one: await afterSilence(db) } })
    const command: Command = { name: 'look', does: 'looks', options: [], isForAnySchema: true, act }
    const config = readConfig({ DATABASE_URL: proxy!.url })
    const { signal } = new AbortController()
    const [say, print] = [() => {}, () => {}]
    const outcome = await onDatabase(command, {}, { config, now: new Date(), say, print, signal })
    assert.deepEqual(outcome.data, { one: '1' })
    assert.equal(await withSource(config, say, signal, afterSilence), '1')
  },
)

test('a server that is gone without a word is left for the next of the address', {
  ...options,
  timeout: 300_000,
}, async t => {
  const gone = await startProxy(server!.url)
  const { username, password, host, pathname } = new URL(server!.url)
  const hosts = `${new URL(gone.url).host},${host}`
  const db = await openDatabase({
    url: `postgres://${username}:${password}@${hosts}${pathname}?connect_timeout=1`,
    ...{ statementTimeoutMs: 2000, poolSize: 3, log() {} },
  })
  t.after(async () => {
    await db.close()
    await gone.close()
  })
  await Promise.all(Array.from({ length: 9 }, () => db.query('SELECT pg_sleep(0.05)')))
  // Nothing refuses what is sent there: the system would wait for a quarter of an hour.
  gone.block()
  await assert.rejects(db.query('SELECT 1'), { name: 'DatabaseUnavailable' })
  const isAnswered = () => db.query('SELECT 1').then(Boolean, () => false)
  await eventually(isAnswered, 'an answer of the next')
  const areAnswered = async () => (await Promise.all(Array.from({ length: 30 }, isAnswered))).every(Boolean)
  await eventually(areAnswered, 'answers to all')
})
