/**
 * The attacks of `npm run attack`, each for a moment, on the engine under test: what the neighbour is
 * answered, not how fast.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attack, described } from './attack.ts'

test('whatever one account does, the others are answered, and rightly', async () => {
  const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'
  const outcomes = await attack({ engine, seconds: 0.4, deals: 2000 })
  assert.ok(outcomes)
  for (const outcome of outcomes) {
    const { answered, neighbour } = outcome
    assert.deepEqual([...neighbour.wrong, ...neighbour.faults], [], described(outcome))
    assert.ok(neighbour.answers > 0, described(outcome))
    assert.deepEqual(
      Object.keys(answered).filter(status => status >= '500' && status !== '503' && status !== 'cut'),
      [],
      described(outcome),
    )
  }
})
