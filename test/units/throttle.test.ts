/** Wrong passwords are throttled (D61): counted by e-mail and network, in bounded memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttle } from '../../src/accounts/sign-in/throttle.ts'
import { Refusal } from '../../src/errors.ts'

let now = 0
const slowed = (act: () => unknown): number => {
  try {
    act()
    return 0
  } catch (error) {
    assert.ok(error instanceof Refusal && error.slug === 'rate_limited')
    return Number(error.headers['retry-after'])
  }
}

test('from one network, a hundred wrong passwords for as many e-mails are free, then each waits', () => {
  const { attempt } = throttle(() => now)
  for (let index = 0; index < 100; index++) attempt(`a${index}@example.com`, 'one')
  assert.equal(
    slowed(() => attempt('b@example.com', 'one')),
    1,
  )
  // Others are not throttled.
  attempt('b@example.com', 'two')
  for (const wait of [1, 2, 4, 8, 10, 10]) {
    assert.equal(
      slowed(() => attempt('c@example.com', 'one')),
      wait,
    )
    now += wait * 1000
    attempt('c@example.com', 'one')
  }
  now += 3_600_000
  attempt('c@example.com', 'one')
  assert.equal(
    slowed(() => attempt('c@example.com', 'one')),
    0,
  )
})

test('what is taken back is as if it had not been: it ends no wait, and makes none longer', () => {
  const { attempt } = throttle(() => now)
  const wait = () => slowed(() => attempt('a@example.com', 'n'))
  for (let index = 0; index < 10; index++) {
    attempt('a@example.com', `n${index}`)(false)
    attempt('a@example.com', `n${index}`)
  }
  assert.equal(wait(), 1)
  now += 1000
  // Eleven wrong ones wait for two seconds: from the last wrong one on, not from those between.
  attempt('a@example.com', 'n')
  now += 2000
  for (let index = 0; index < 100; index++) attempt('a@example.com', 'n')(false)
  attempt('a@example.com', 'n')
  assert.equal(wait(), 4)
  // An hour after the last wrong one all counters are reset, even if the right one came meanwhile.
  for (let minute = 0; minute < 60; minute++) {
    now += 60_000
    attempt('a@example.com', 'n')(false)
    attempt(`other${minute}@example.com`, 'n')
  }
  for (let index = 0; index < 10; index++) attempt('a@example.com', `m${index}`)
  assert.equal(wait(), 1)
})

test('of those at once only those that were taken back count not', () => {
  const { attempt } = throttle(() => now)
  const many = Array.from({ length: 12 }, () => () => attempt('a@example.com', 'n'))
  const under = many.slice(0, 10).map(begin => begin())
  assert.equal(slowed(many[10]!), 1)
  under[3]!(false)
  under[9]!(false)
  assert.equal(slowed(many[10]!), 0)
  assert.equal(slowed(many[11]!), 0)
  assert.equal(slowed(many[11]!), 1)
})

test('another process learns of wrong passwords, and of no others', () => {
  const others = new Map<string, (key: string, amount: number) => void>()
  const here = throttle(() => now, {
    add: (of, key, amount) => others.get(of)!(key, amount),
    onAdded() {},
  })
  const there = throttle(() => now, { add() {}, onAdded: (of, act) => others.set(of, act) })
  const wait = () => slowed(() => there.attempt('a@example.com', 'n')(false))
  for (let index = 0; index < 100; index++) here.attempt('a@example.com', 'n')(false)
  assert.equal(wait(), 0)
  for (let index = 0; index < 10; index++) here.attempt('a@example.com', 'n')(true)
  assert.equal(wait(), 1)
})

test('what is taken back leaves nothing in the memory', () => {
  const { attempt } = throttle(() => now)
  for (let index = 0; index < 100_000; index++) attempt(`flood${index}@example.com`, `n${index}`)(false)
  for (let index = 0; index < 10; index++) attempt('late@example.com', `m${index}`)
  assert.equal(
    slowed(() => attempt('late@example.com', 'm')),
    1,
  )
  // It still has a counter of its own.
  assert.equal(
    slowed(() => attempt('later@example.com', 'm')),
    0,
  )
})

test('a flood of e-mails takes nobody else’s count, and its memory has an end', () => {
  const { attempt } = throttle(() => now)
  for (let index = 0; index < 10; index++) attempt('victim@example.com', `v${index}`)
  for (let index = 0; index < 100_010; index++)
    slowed(() => attempt(`flood${index}@example.com`, `n${index % 90_000}`))
  assert.equal(
    slowed(() => attempt('victim@example.com', 'v')),
    1,
  )
  // Keys without room share a counter.
  assert.ok(slowed(() => attempt('late@example.com', 'n1')) > 0)
})
