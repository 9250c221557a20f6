/** A memoized function of an object. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoize } from '../../../src/waiting/memoize.ts'

test('the function is called once for each object, and again only if it threw', () => {
  let calls = 0
  const next = memoize((key: { readonly fails?: boolean }) => {
    calls++
    if (key.fails && calls === 3) throw new Error('not yet')
    return { calls }
  })
  const [one, other, failing] = [{}, {}, { fails: true }]
  assert.equal(next(one), next(one))
  assert.notEqual(next(one), next(other))
  assert.throws(() => next(failing), /not yet/)
  assert.deepEqual([next(failing), next(failing), calls], [{ calls: 4 }, { calls: 4 }, 4])
})
