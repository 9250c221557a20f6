/** The sizes of a batch's steps (D78), by what steps take that is made up here: no clock is asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StepSize } from '../../src/http/routes/step-size.ts'
import { random } from '../support/generated.ts'

/** The sizes of the steps of so many operations. */
function stepsOf(operations: number, msOf: (count: number, step: number) => number): number[] {
  const [size, sizes]: [StepSize, number[]] = [new StepSize(), []]
  for (let left = operations; left > 0; left -= sizes.at(-1)!) {
    const count = Math.min(left, size.next)
    sizes.push(count)
    size.follow({ count, ms: msOf(count, sizes.length) })
  }
  return sizes
}

test('quick operations come to the largest step, slow ones to the smallest', () => {
  assert.deepEqual(
    stepsOf(600, () => 1),
    [8, 32, 128, 250, 182],
  )
  const slow = stepsOf(100, count => count * 60)
  assert.deepEqual([slow[0], ...new Set(slow.slice(1))], [8, 4])
  const usual = stepsOf(500, count => count)
  assert.ok(
    usual.slice(2, -1).every(count => count === 50),
    usual.join(),
  )
})

test('what a step takes however small it is does not make steps smaller', () => {
  // As where a deal with thousands of activities is brought in line by each step.
  for (const fixed of [40, 80, 400]) {
    const sizes = stepsOf(500, count => fixed + count * 0.5)
    assert.ok(sizes.length <= 12, `${fixed}: ${sizes}`)
  }
  // It may take longer from step to step, and be as noisy as on a loaded machine.
  const growing = stepsOf(500, (count, step) => 80 + step * 4 + count * 0.5)
  assert.ok(growing.length <= 12, growing.join())
  const noisy = stepsOf(500, (count, step) => (80 + count * 0.5) * (step % 2 ? 1 : 1.4))
  assert.ok(noisy.length <= 20, noisy.join())
})

test('chance does not make steps longer', () => {
  // The time of a step varies by a third, and none of it is fixed work.
  const next = random(7)
  const sizes = stepsOf(5000, count => count * (1 + next() / 3))
  assert.ok(Math.max(...sizes) < 100, sizes.join())
})

test('operations that become slow make steps small again', () => {
  const sizes = stepsOf(2000, (count, step) => 20 + count * (step < 8 ? 0.1 : 20))
  assert.ok(
    sizes.slice(-5, -1).every(count => count <= 8),
    sizes.join(),
  )
})
