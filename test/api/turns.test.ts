/** Reads that may take long take the account's turn: no quick statement waits behind them (D102). */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import type { Json } from '../../src/json.ts'
import { notedDatabase } from '../support/noted-database.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const { db, known, made, token } = await startService()
const noted = notedDatabase(db)
const app = buildApp({ db: noted.db, now: () => new Date(), log: pino({ level: 'error' }) })
after(() => app.close())
const url = await app.listen({ port: 0, host: '127.0.0.1' })

/** Sends a request; returns how often a statement with that text came each way. */
async function waysOf(part: RegExp, method: string, path: string, body: Json | null, status: number) {
  for (const texts of Object.values(noted.texts)) texts.length = 0
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
  const reply = await fetch(`${url}${v1}/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  assert.equal(reply.status, status, await reply.text())
  const ways = Object.entries(noted.texts).map(([way, texts]): [string, number] => [
    way,
    texts.filter(text => part.test(text)).length,
  ])
  return Object.fromEntries(ways.filter(([, count]) => count > 0))
}

test('names like one that nobody has are sought in turn, for a read and for a write', async () => {
  const unknown = { primary_contact: 'Nobody Anywhere', company: 'Nowhere' }
  const filter = 'deal/view/list?filter=primary_contact:eq(Nobody Anywhere)'
  assert.deepEqual(await waysOf(/word_similarity/, 'GET', filter, null, 400), { 'in turn': 1 })
  const body = dealBody(known, unknown)
  assert.deepEqual(await waysOf(/word_similarity/, 'POST', 'deal', body, 422), { 'in turn': 2 })
  // A transaction has its turn, and the embedded engine has one connection.
  const path = 'deal?dry_run=1'
  assert.deepEqual(await waysOf(/word_similarity/, 'POST', path, body, 422), { 'in a transaction': 2 })
})

test('what a dropdown offers of records is read in turn', async () => {
  const path = 'field/dropdown?name=sales_owner&source=deal'
  assert.deepEqual(await waysOf(/ORDER BY fold/, 'GET', path, null, 200), { 'in turn': 1 })
})

test('a whole inbox is read in turn and marked in a transaction, single items at once', async () => {
  const { id } = await made('activity', { kind: 'Note', subject: 'Many' })
  await db.query(`INSERT INTO notification (account_id, user_id, id, kind, resource, record_id, actor, at)
    SELECT 1, ${known.owner}, concat('mention-', 1000000 + n), 'mention', 'activity', ${id}, 1, now()
    FROM generate_series(1, 600) n`)
  const part = /FROM notification n|INSERT INTO notification/
  const mark = (body: { [name: string]: Json }) =>
    waysOf(part, 'POST', 'inbox/mark', { ...body, to: 'read' }, 200)
  assert.deepEqual(await mark({ ids: ['mention-1000001'] }), { 'at once': 1 })
  assert.deepEqual(await mark({ until: '2999-01-01T00:00:00Z' }), { 'in turn': 1, 'in a transaction': 1 })
})

test('what points to a record is counted in turn if a move takes most of it along, else at once', async () => {
  const contact = await made('contact', { last_name: 'Pointed' })
  await made('deal', dealBody(known, { primary_contact: contact.id }))
  const part = /pointing AS/
  assert.deepEqual(await waysOf(part, 'DELETE', `contact/${contact.id}`, null, 409), { 'at once': 1 })
  const user = await made('user', { name: 'Leaving', email: 'leaving@example.com' })
  await made('deal', dealBody(known, { sales_owner: user.id }))
  const path = `user/${user.id}?move_to=${known.owner}`
  assert.deepEqual(await waysOf(part, 'DELETE', path, null, 200), { 'in turn': 1 })
})
