/** A lease on the rows of a table: taking and losing it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '../../../src/db/open.ts'
import { sql } from '../../../src/sql.ts'
import { leaseOn } from '../../../src/waiting/lease.ts'
import { timeouts } from '../../support/timeouts.ts'

const db = await openDatabase({ ...timeouts(), log() {} })
after(() => db.close())
await db.query(`CREATE TABLE task (id int, done int NOT NULL DEFAULT 0, lease text,
  leased_until timestamptz NOT NULL DEFAULT '-infinity')`)
await db.query('INSERT INTO task (id) VALUES (1), (2)')

const lease = leaseOn<number>({
  table: 'task',
  alias: 't',
  seconds: 3600,
  isRow: id => sql`t.id = ${String(id)}::int`,
})
const claim = (holder: string, where = sql`true`) =>
  lease.claim(db, 1, holder, { where, set: sql`done = t.done + 1`, returning: sql`t.done::text AS done` })

test('one holder at a time, who renews; another after its release or its time, and of no other row', async () => {
  assert.equal(await claim('a', sql`t.done > 7`), null)
  assert.deepEqual(await claim('a'), { done: '1' })
  assert.equal(await claim('b'), null)
  assert.deepEqual(await claim('a'), { done: '2' })
  await lease.release(db, 1, 'b')
  assert.equal(await claim('b'), null, 'who does not hold it releases nothing')
  await lease.release(db, 1, 'a', sql`done = 5`)
  assert.deepEqual(await claim('b'), { done: '6' })
  await db.query("UPDATE task SET leased_until = now() - interval '1 second' WHERE id = 1")
  assert.deepEqual(await claim('a'), { done: '7' })
  assert.equal(await claim('b'), null)
  const other = await db.query('SELECT done::text AS done, lease FROM task WHERE id = 2')
  assert.deepEqual(other, [{ done: '0', lease: null }])
})
