/** Counts that processes share (D167): each learns once of every amount. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Added, sharedCounts } from '../../../src/waiting/shared-counts.ts'

test('what is added is sent together, once', async () => {
  const sent: (readonly Added[])[] = []
  const counts = sharedCounts(added => sent.push(added), 5)
  counts.add('requests', 'a', 1)
  counts.add('requests', 'a', 1)
  counts.add('passwords', 'a', 1)
  await delay(50)
  assert.deepEqual(sent, [
    [
      ['requests', 'a', 2],
      ['passwords', 'a', 1],
    ],
  ])
  counts.add('requests', 'a', 1)
  await delay(50)
  assert.deepEqual(sent.slice(1), [[['requests', 'a', 1]]])
})

test('what others add reaches who counts it, and is not sent back', async () => {
  const sent: (readonly Added[])[] = []
  const counts = sharedCounts(added => sent.push(added), 5)
  const seen: unknown[] = []
  counts.onAdded('requests', (key, amount) => seen.push([key, amount]))
  counts.take([
    ['requests', 'a', 3],
    ['unknown', 'a', 1],
  ])
  await delay(50)
  assert.deepEqual([seen, sent], [[['a', 3]], []])
})
