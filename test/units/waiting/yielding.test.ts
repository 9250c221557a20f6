/** Long work in slices: in order, complete, and interleaved. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapYielding } from '../../../src/waiting/yielding.ts'

/** Blocks the thread. */
function work(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

test('the results are those of each item, in order; an error ends it', async () => {
  const items = Array.from({ length: 50 }, (_, index) => index)
  const results = await mapYielding(items, item => {
    work(1)
    return item * 2
  })
  assert.deepEqual(
    results,
    items.map(item => item * 2),
  )
  assert.deepEqual(await mapYielding([], () => assert.fail()), [])
  await assert.rejects(
    mapYielding(items, item => {
      work(1)
      if (item === 40) throw new Error('the fortieth')
    }),
    /the fortieth/,
  )
})

test('others have turns between the pieces, and several works one piece a turn', async () => {
  let turns = 0
  let pieces = 0
  let most = 0
  const watch = setInterval(() => {
    turns++
    pieces = 0
  })
  const one = () =>
    mapYielding(Array.from({ length: 12 }), () => {
      // Each is longer than a slice may be: it is a slice of its own.
      work(15)
      most = Math.max(most, ++pieces)
    })
  await one()
  assert.ok(turns >= 8, `${turns} turns`)
  turns = 0
  most = 0
  await Promise.all([one(), one(), one()])
  clearInterval(watch)
  assert.ok(turns >= 24, `${turns} turns`)
  // Each begins at once; from then on they wait for each other.
  assert.ok(most <= 4, `${most} pieces in a turn`)
})
