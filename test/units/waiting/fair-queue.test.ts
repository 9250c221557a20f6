/** A queue in which keys take turns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue } from '../../../src/waiting/fair-queue.ts'

test('keys take turns, the items of a key come in order, and preferred keys come first', () => {
  const queue = new FairQueue<number, string>('test')
  for (const item of ['1a', '1b', '1c', '2a', '3a', '2b']) queue.push(Number(item[0]), item)
  assert.deepEqual([queue.shift(), queue.shift()], ['1a', '2a'])
  assert.equal(
    queue.shift(key => key === 2),
    '2b',
  )
  queue.unshift(1, '1-')
  assert.deepEqual([queue.shift(), queue.shift()], ['3a', '1-'])
  assert.equal(
    queue.shift(key => key === 9),
    '1b',
  )
  assert.equal(queue.isEmpty, false)
  assert.deepEqual([queue.shift(), queue.shift(), queue.isEmpty], ['1c', undefined, true])
})
