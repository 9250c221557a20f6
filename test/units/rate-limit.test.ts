/** Rate limits (D59): by a monotonic clock, each caller for itself, in bounded memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { networkOf } from '../../src/http/client.ts'
import { rateLimit } from '../../src/http/rate-limit.ts'

const isTaken = (ask: () => unknown) => {
  try {
    ask()
    return true
  } catch (error) {
    assert.ok(error instanceof Refusal && error.slug === 'rate_limited')
    return false
  }
}

test('a minute begins with the first request and is over by its own clock', () => {
  let now = 5000
  const limit = rateLimit(2, () => now)
  const ask = () => limit.count('token', '10.0.0.1')
  assert.deepEqual(ask(), { 'ratelimit-policy': '"token";q=2;w=60', ratelimit: '"token";r=1;t=60' })
  now += 30_500
  assert.equal(ask().ratelimit, '"token";r=0;t=30')
  assert.deepEqual([isTaken(ask), isTaken(ask)], [false, false])
  now += 29_499
  assert.equal(isTaken(ask), false)
  now += 1
  assert.equal(ask().ratelimit, '"token";r=1;t=60')
})

test('without a limit nothing is counted', () => {
  const limit = rateLimit(0, () => 0)
  for (let count = 0; count < 10; count++) assert.deepEqual(limit.count('token', '10.0.0.1'), {})
})

test('a flood of addresses takes nobody else’s count, and its memory has an end', () => {
  let now = 0
  const limit = rateLimit(2, () => now)
  const [token, early, late] = ['token', '10.0.0.1', '10.0.0.2']
  for (let count = 0; count < 2; count++) {
    limit.count(token, early)
    limit.count(null, early)
  }
  const flood = (first: number, last: number) => {
    for (let count = first; count < last; count++)
      isTaken(() => limit.count(null, `${count % 256}.${count >> 8}.9.9`))
  }
  flood(0, 300_000)
  assert.deepEqual(
    [isTaken(() => limit.count(token, late)), isTaken(() => limit.count(null, early))],
    [false, false],
  )
  // Callers beyond the memory share a counter, which is used up; a valid token is none of them.
  assert.deepEqual(
    [isTaken(() => limit.count(null, late)), isTaken(() => limit.count('other', late))],
    [false, true],
  )
  now += 60_000
  assert.ok(isTaken(() => limit.count(null, late)))
})

test('an IPv6 address counts for its network of 64 bits, an IPv4 address for itself', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['', ''],
  ] as const) {
    assert.equal(networkOf(address), network, address)
  }
})
