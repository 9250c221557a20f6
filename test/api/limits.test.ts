/** Rate limits, and the content of the log. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { logOptions } from '../../src/log.ts'
import { dealBody, startService, v1 } from '../support/service.ts'

const lines: string[] = []
const log = pino(
  { ...logOptions, level: 'trace' },
  new Writable({
    write: (line, _encoding, done) => {
      lines.push(String(line))
      done()
    },
  }),
)
const limits = { retentionDays: 30, bodyLimitBytes: 5000, rateLimit: 20 }
/** The minute never ends, even if the requests take long. */
const clock = () => 0
const service = await startService({ limits, log, clock })
const { call, url, known, token, db } = service

test('a token may make so many requests a minute, and hears how many are left', async () => {
  const replies = []
  for (let count = 0; count < 25; count++) replies.push(await call('GET', `${v1}/field/list?source=deal`))
  const statuses = replies.map(reply => reply.status)
  assert.deepEqual(
    [statuses.filter(status => status === 200).length, statuses.filter(status => status === 429).length],
    [20, 5],
  )
  assert.match(replies[0]!.headers.get('ratelimit-policy')!, /^"token";q=20;w=60$/)
  assert.match(replies[4]!.headers.get('ratelimit')!, /^"token";r=15;t=\d+$/)
  const refused = replies.at(-1)!
  assert.equal(refused.body.code, 6004)
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  // Guessed tokens are counted by address.
  const guesses = []
  for (let count = 0; count < 22; count++) {
    const headers = { authorization: `Bearer guess-${count}-guess-guess-guess-guess-guess` }
    guesses.push((await fetch(`${url}${v1}/deal/view/list`, { headers })).status)
  }
  assert.deepEqual([guesses[0], guesses.at(-1)], [401, 429])
  assert.equal((await fetch(`${url}${v1}/deal/view/list`)).status, 429)
})

test('the time of day being set back makes no minute longer', async t => {
  let clock = 0
  const other = await startService({ limits: { rateLimit: 3 }, clock: () => clock })
  const ask = async () => (await other.get(`${v1}/field/list?source=deal`)).status
  assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [200, 200, 200, 429])
  const timeOfDay = Date.now.bind(Date)
  t.mock.method(Date, 'now', () => timeOfDay() - 3_600_000)
  clock += 60_000
  assert.equal(await ask(), 200)
})

test('a body above the limit is refused', async () => {
  const other = await service.another()
  const reply = await other.call('POST', `${v1}/deal`, dealBody(known, { description: 'x'.repeat(6000) }))
  assert.deepEqual([reply.status, reply.body.code], [413, 6001])
})

test('no token, cookie or value of a body gets into the log, not even with a fault', async () => {
  const other = await service.another()
  lines.length = 0
  // A fault of the database with values in its message: a column is missing.
  await db.query('ALTER TABLE product RENAME COLUMN sku_number TO sku')
  const secret = 'canary-5f2c'
  const reply = await other.call(
    'POST',
    `${v1}/product`,
    { name: secret, sku_number: secret },
    { cookie: `session=${secret}` },
  )
  await db.query('ALTER TABLE product RENAME COLUMN sku TO sku_number')
  assert.equal(reply.status, 500)
  assert.doesNotMatch(reply.text, /sku|canary|SELECT|INSERT/)
  // Background jobs may fail for the same reason.
  const failed = lines.filter(line => line.includes('request failed'))
  assert.equal(failed.length, 1)
  assert.match(failed[0]!, new RegExp(reply.body.requestId))
  for (const hidden of [secret, token]) assert.ok(!lines.join('').includes(hidden))
})
