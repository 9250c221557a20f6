/** The circuit breaker: when a database counts as silent, and when it does not. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { CircuitBreaker, type CircuitBreakerOptions } from '../../src/db/postgres/circuit-breaker.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'

const stops: (() => void)[] = []
after(() => {
  for (const stop of stops) stop()
})

function watched(options: Partial<CircuitBreakerOptions>) {
  const breaker = new CircuitBreaker({
    ...{ probe: () => never, silenceMs: 200, limitMs: 60_000, onLate() {} },
    ...options,
  })
  stops.push(() => breaker.stop())
  return breaker
}

const never = new Promise<never>(() => {})
const answerAfter = (ms: number) => new Promise<string>(resolve => setTimeout(resolve, ms, 'answer'))

test('silence refuses what waits and what comes; an answer ends it', async () => {
  let answer = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  const breaker = watched({ probe: () => answered })
  await assert.rejects(
    breaker.guard(() => never),
    DatabaseUnavailable,
  )
  let isAsked = false
  const asking = breaker.guard(async () => {
    isAsked = true
  })
  await assert.rejects(asking, DatabaseUnavailable)
  assert.equal(isAsked, false)
  answer()
  await answered
  assert.equal(await breaker.guard(async () => 'again'), 'again')
})

test('a slow answer is no silence while the probe is answered, or refused by the database itself', async () => {
  const full = Object.assign(new Error('too many connections'), { code: '53300' })
  for (const probe of [async () => {}, () => Promise.reject(full)]) {
    const breaker = watched({ probe })
    assert.deepEqual(await Promise.all([500, 600].map(ms => breaker.guard(() => answerAfter(ms)))), [
      'answer',
      'answer',
    ])
  }
})

test('a probe behind many others is no silence as long as those are answered', async () => {
  const breaker = watched({})
  const all = Array.from({ length: 40 }, (_, index) => breaker.guard(() => answerAfter(25 * index)))
  assert.ok((await Promise.all(all)).every(answer => answer === 'answer'))
})

// Without a turn of the event loop, a caller that retries at once would block the process for ever.
test('a caller that retries at once leaves timers their turn', async () => {
  const breaker = watched({})
  await assert.rejects(breaker.guard(() => never))
  let isTimerDone = false
  setTimeout(() => {
    isTimerDone = true
  }, 1)
  let tries = 0
  for (; !isTimerDone && tries < 1_000_000; tries++) await breaker.guard(() => never).catch(() => {})
  assert.ok(isTimerDone, `${tries} retries without a turn`)
})

test('nothing waits beyond the limit', async () => {
  let late = 0
  const limited = watched({ probe: async () => {}, limitMs: 300, onLate: () => late++ })
  await assert.rejects(
    limited.guard(() => never),
    DatabaseUnavailable,
  )
  assert.equal(late, 1)
})

test('what came while this process stood still is read before it is called late or silent', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => socket.destroy())
  const [peer] = await once(server, 'connection')
  let late = 0
  const breaker = watched({ probe: () => once(socket, 'data'), limitMs: 1000, onLate: () => late++ })
  for (const kept of ['an answer', 'another']) {
    const asked = breaker.guard(() => once(socket, 'data'))
    // Behind the reading of sockets: the next turn begins with the clocks.
    await turnOfLoop()
    peer.write(kept)
    const until = performance.now() + 2000
    while (performance.now() < until);
    assert.equal(String((await asked)[0]), kept)
  }
  assert.equal(late, 0)
})
