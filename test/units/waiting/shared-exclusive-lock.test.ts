/** Writes that wait while all records of their account are read (D81): a shared–exclusive lock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as turnOfLoop } from 'node:timers/promises'
import { SharedExclusiveLock } from '../../../src/waiting/shared-exclusive-lock.ts'

const never = 300_000

/** Records events in order; each act goes on when the test releases it. */
function watched(waitMs = never) {
  const lock = new SharedExclusiveLock<string>('test', waitMs, () => new Error('too late'))
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const act = (name: string) => async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    log.push(`${name} begins`)
    ends.set(name, resolve)
    await promise
    log.push(`${name} ends`)
  }
  return {
    ...{ log, lock },
    writing: (name: string, account = '1') => lock.shared(account, act(name)),
    reading: (name: string) => lock.exclusive('1', act(name)),
    async end(name: string) {
      ends.get(name)!()
      await turnOfLoop()
    },
  }
}

test('what has begun is over before the account is read, and what comes later waits', async () => {
  const { log, writing, reading, end } = watched()
  const all = [writing('a'), writing('b'), reading('R'), writing('c'), writing('other', '2')]
  await turnOfLoop()
  await end('a')
  assert.deepEqual(log.splice(0), ['a begins', 'b begins', 'other begins', 'a ends'])
  await end('b')
  assert.deepEqual(log.splice(0), ['b ends', 'R begins'])
  await end('R')
  assert.deepEqual(log.splice(0), ['R ends', 'c begins'])
  await end('c')
  await end('other')
  await Promise.all(all)
})

test('between two that read, what has waited is written', async () => {
  const { log, writing, reading, end } = watched()
  const all = [reading('R'), reading('S'), writing('a'), writing('b')]
  await end('R')
  assert.deepEqual(log.splice(0), ['R begins', 'R ends', 'a begins', 'b begins'])
  all.push(writing('c'))
  await end('a')
  await end('b')
  assert.deepEqual(log.splice(0), ['a ends', 'b ends', 'S begins'])
  await end('S')
  assert.deepEqual(log.splice(0), ['S ends', 'c begins'])
  await end('c')
  await Promise.all(all)
})

test('what waits too long is refused, and is not written later', async () => {
  const { log, writing, reading, end } = watched(1)
  const all = reading('R')
  await assert.rejects(writing('a'), /too late/)
  await end('R')
  await all
  assert.deepEqual(log.splice(0), ['R begins', 'R ends'])
  const next = writing('b')
  await end('b')
  await next
  assert.deepEqual(log, ['b begins', 'b ends'])
})

test('a patient one waits as long as it takes', async () => {
  const { log, lock, reading, end } = watched(1)
  const all = reading('R')
  const patient = lock.shared('1', async () => void log.push('a begins'), true)
  await delay(20)
  assert.deepEqual(log.splice(0), ['R begins'])
  await end('R')
  await Promise.all([all, patient])
  assert.deepEqual(log, ['R ends', 'a begins'])
})
