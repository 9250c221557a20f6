/** The measured time of a bench: as long as requested, or until there is a figure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slice } from '../../bench/slice.ts'

// Hours: a pause of this process between two lines is negligible.
const hour = 3_600_000
const asked = { warmUp: 10 * 3600, seconds: 2 * 3600 }

test('what comes within the time after the warm-up counts', () => {
  const begun = performance.now()
  const slice = new Slice(asked)
  assert.deepEqual(
    [5, 10.5, 11.5, 12.5, 12.6].map(hours => slice.counts(begun + hours * hour)),
    [false, true, true, false, false],
  )
  assert.equal(Math.round(slice.seconds), 2 * 3600)
})

test('where nothing came in time, the first that comes counts, and ends it', () => {
  const begun = performance.now()
  const slice = new Slice(asked)
  assert.equal(slice.isOver(begun + 14 * hour), false)
  assert.deepEqual([slice.counts(begun + 15 * hour), slice.counts(begun + 15.1 * hour)], [true, false])
  assert.equal(slice.isOver(begun + 15.1 * hour), true)
  assert.equal(Math.round(slice.seconds / 3600), 5)
})
