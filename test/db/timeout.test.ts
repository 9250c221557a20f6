/** What a request gets whose statement takes too long: on a server; the embedded engine's watchdog is tested in embedded.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseRefusal } from '../../src/db/refusal.ts'
import { startService, v1 } from '../support/service.ts'

const isServer = process.env.TEST_ENGINE === 'postgres'

test('a list that takes too long is stopped with a clear 503, and the next one is answered', { skip: !isServer }, async () => {
  const { db, get } = await startService({ sampleData: false, statementTimeoutMs: 2000 })
  await db.sql.begin(async tx => {
    await tx.unsafe('LOCK TABLE deal IN ACCESS EXCLUSIVE MODE')
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
