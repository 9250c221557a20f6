/** A mutex for each key: one holder at a time, in order, even after an error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { KeyedMutex } from '../../../src/waiting/keyed-mutex.ts'

test('callers of a key hold it in their order, those of another key do not wait, and errors unlock', async () => {
  const mutex = new KeyedMutex<string>('test')
  const log: string[] = []
  const act = (name: string) => async () => {
    log.push(`${name} begins`)
    await turnOfLoop()
    log.push(`${name} ends`)
    if (name === 'b') throw new Error('b fails')
  }
  const unlock = await mutex.lock('x')
  const all = Promise.allSettled(['a', 'b', 'c'].map(name => mutex.run('x', act(name))))
  await mutex.run('y', act('other'))
  assert.deepEqual(log.splice(0), ['other begins', 'other ends'])
  assert.deepEqual([mutex.isLocked('x'), mutex.isLocked('y')], [true, false])
  unlock()
  assert.deepEqual(
    (await all).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  assert.equal(mutex.isLocked('x'), false)
})

test('what throws before it waits for anything unlocks, too', async () => {
  const mutex = new KeyedMutex<string>('test')
  const fail = (): Promise<void> => {
    throw new Error('at once')
  }
  await assert.rejects(mutex.run('x', fail), /at once/)
  assert.equal(await mutex.run('x', async () => 'next'), 'next')
})
