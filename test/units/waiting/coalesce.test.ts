/** Coalesced calls (D109). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { coalesce } from '../../../src/waiting/coalesce.ts'

test('calls before the work begins share it, those after get another turn; keys take turns', async () => {
  const log: string[] = []
  const ends: (() => void)[] = []
  const ask = coalesce('test', 2, async (key: string) => {
    log.push(key)
    await new Promise<void>(resolve => ends.push(resolve))
  })
  const end = async () => {
    ends.shift()!()
    await turnOfLoop()
  }
  const first = [ask('a'), ask('b'), ask('c')]
  await turnOfLoop()
  const again = [ask('a'), ask('a'), ask('c'), ask('a')]
  assert.equal(again[0], again[1])
  assert.equal(again[2], first[2])
  assert.notEqual(again[0], first[0])
  await end()
  assert.deepEqual(log, ['a', 'b', 'c'])
  await end()
  assert.deepEqual(log, ['a', 'b', 'c', 'a'])
  await end()
  await end()
  await Promise.all([...first, ...again])
  assert.deepEqual(log, ['a', 'b', 'c', 'a'])
})

test('an error is for those who asked for this turn, and the next is carried out', async () => {
  let turns = 0
  // The first throws before it waits for anything.
  const ask = coalesce('test', 1, (_key: string): Promise<void> => {
    turns++
    if (turns === 1) throw new Error('the first')
    return turns === 2 ? Promise.reject(new Error('the second')) : Promise.resolve()
  })
  for (const which of [/the first/, /the second/])
    await Promise.all([1, 2].map(() => assert.rejects(ask('a'), which)))
  await ask('a')
  assert.equal(turns, 3)
})
