/** A quota that accounts share: no account can use it up (D108). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quota } from '../../../src/waiting/quota.ts'

/** Takes one at a time until it is refused. */
function takeAll(of: ReturnType<typeof quota>, account: number): number {
  for (let taken = 0; ; taken++) if (!of.take(account, 1)) return taken
}

test('one account has half, the next half of the rest, and what is released is there again', () => {
  const shared = quota('test', 100)
  assert.equal(takeAll(shared, 1), 50)
  assert.equal(takeAll(shared, 2), 25)
  assert.equal(shared.take(3, 13), false)
  assert.equal(takeAll(shared, 3), 12)
  shared.release(1, 50)
  assert.equal(takeAll(shared, 1), 31)
})

test('accounts that take in turns have equal parts', () => {
  const shared = quota('test', 90)
  const taken = [0, 0]
  for (let isFull = false; !isFull; ) {
    isFull = true
    for (const account of [0, 1])
      if (shared.take(account, 1)) {
        taken[account]!++
        isFull = false
      }
  }
  assert.deepEqual(taken, [30, 30])
})
