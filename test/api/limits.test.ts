/** Rate limits, and the content of the log. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { logOptions } from '../../src/log.ts'
import { eventually } from '../support/eventually.ts'
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

/** A service over the same database that calls `before` before each look-up of a token. */
async function lookingUp(before: () => void | Promise<void>, rateLimit: number) {
  const query: typeof db.query = async (...of) => {
    if (of[0].includes('token_secret')) await before()
    return db.query(...of)
  }
  const app = buildApp({ db: { ...db, query }, now: () => new Date(), clock, log, limits: { rateLimit } })
  after(() => app.close())
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  return (of: string, path = `${v1}/me`) =>
    fetch(`${address}${path}`, { headers: { authorization: `Bearer ${of}` } })
}

const unknown = (number: number) => String(number).padStart(32, 'x')

test('unknown tokens cost no query once their network is over its limit, and keep no known one from asking', async () => {
  let lookUps = 0
  const ask = await lookingUp(() => void lookUps++, 10)
  assert.equal((await ask(token)).status, 200)
  lookUps = 0
  const statuses: number[] = []
  for (let count = 0; count < 100; count++)
    statuses.push((await ask(unknown(count), count % 2 ? '/rest/nothing' : undefined)).status)
  assert.equal(lookUps, 10)
  assert.deepEqual(
    [new Set(statuses.slice(0, 10)), new Set(statuses.slice(10))],
    [new Set([401, 404]), new Set([429])],
  )
  assert.equal((await ask(token)).status, 200)
})

test('of the unknown tokens of one network, no more than its share are looked up at a time', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let lookUps = 0
  let isHeld = false
  const ask = await lookingUp(() => {
    if (!isHeld) return
    lookUps++
    return held
  }, 0)
  assert.equal((await ask(token)).status, 200)
  isHeld = true
  const statuses: number[] = []
  const strangers = Array.from({ length: 200 }, async (_, count) =>
    statuses.push((await ask(unknown(count))).status),
  )
  await eventually(() => statuses.length + lookUps === 200, 'the arrival of all')
  assert.equal((await ask(token)).status, 200)
  // The half of the places that are for guests, and of these the half for one network.
  assert.deepEqual([lookUps, new Set(statuses)], [125, new Set([503])])
  release()
  await Promise.all(strangers)
  assert.deepEqual(new Set(statuses), new Set([401, 503]))
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
