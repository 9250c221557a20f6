/**
 * The answer to a request whose statement takes too long (D51), on a server. The embedded engine's watchdog
 * is tested in embedded.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseRefusal } from '../../src/db/refusal.ts'
import { eventually } from '../support/eventually.ts'
import { startService, v1 } from '../support/service.ts'

const isServer = process.env.TEST_ENGINE === 'postgres'

test('a list that takes too long is stopped with a clear 503; the next one is answered', {
  skip: !isServer,
}, async () => {
  const { db, get } = await startService({ sampleData: false, statementTimeoutMs: 4000 })
  await db.sql.begin(async tx => {
    await tx.query('LOCK TABLE deal IN ACCESS EXCLUSIVE MODE')
    const slow = await get(`${v1}/deal/view/list`)
    assert.equal(slow.status, 503, slow.text)
    assert.equal(slow.body.code, 6002)
    assert.match(slow.body.detail, /waited too long/)
    assert.equal(slow.headers.get('retry-after'), '1')
  })
  assert.equal((await get(`${v1}/deal/view/list`)).status, 200)
  const error = await db.query('SELECT pg_sleep(10)').catch(error => error)
  assert.match(databaseRefusal(error)!.message, /narrow the filter/)
})

// Its statement has more time than the test: only the client's hanging up can end it.
test('a list whose asker hangs up is stopped', { skip: !isServer, timeout: 60_000 }, async () => {
  const { db, url, token } = await startService({ sampleData: false, statementTimeoutMs: 300_000 })
  await db.sql.begin(async tx => {
    await tx.query('LOCK TABLE deal IN ACCESS EXCLUSIVE MODE')
    // Queried outside of the transaction, which would see the same each time. Background jobs wait for deals,
    // too, and so do tests with other databases of this server.
    const waiting = async () => {
      const text = `SELECT count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT string_agg(%'`
      const [row] = await db.query(text)
      return Number(row!.n)
    }
    const turn = new AbortController()
    const headers = { authorization: `Bearer ${token}` }
    const asked = fetch(`${url}${v1}/deal/view/list`, { headers, signal: turn.signal }).catch(
      error => error.name,
    )
    await eventually(async () => (await waiting()) > 0, 'a list that waits')
    turn.abort()
    assert.equal(await asked, 'AbortError')
    await eventually(async () => (await waiting()) === 0, 'no list that waits')
  })
})
