/** Wrong passwords are slowed down (D61): counted by e-mail and network, in a memory that has an end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/errors.ts'
import { throttle } from '../../src/sign-in/throttle.ts'

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
  // Others go on.
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

test('the right password frees its e-mail, and only itself for the network; what was not judged counts not', () => {
  const { attempt } = throttle(() => now)
  for (let index = 0; index < 9; index++) attempt('a@example.com', `n${index}`)
  attempt('a@example.com', 'n').takeBack()
  attempt('a@example.com', 'n').succeeded()
  for (let index = 0; index < 10; index++) attempt('a@example.com', `m${index}`)
  assert.equal(
    slowed(() => attempt('a@example.com', 'm')),
    1,
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
  // Those for whom there was no room share a count.
  assert.ok(slowed(() => attempt('late@example.com', 'n1')) > 0)
})
