/** A timeout: promises in time, and late ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { within } from '../../../src/waiting/timeout.ts'

const never = 300_000

test('a promise in time has its result or error; one that is late has that of the timeout', async () => {
  const fail = (why: string) => () => {
    throw new Error(why)
  }
  assert.equal(await within(Promise.resolve('in time'), never, fail('late')), 'in time')
  await assert.rejects(within(Promise.reject(new Error('its own')), never, fail('late')), /its own/)
  const { promise, reject } = Promise.withResolvers<string>()
  assert.equal(await within(promise, 1, () => 'late'), 'late')
  await assert.rejects(within(promise, 1, fail('late')), /late/)
  reject(new Error('nobody hears of it'))
})
