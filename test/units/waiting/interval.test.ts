/** Repeated work. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { interval } from '../../../src/waiting/interval.ts'
import { eventually } from '../../support/eventually.ts'

test('no two calls overlap, errors end nothing, and a stop waits for the call under way', async () => {
  const log: string[] = []
  const errors: unknown[] = []
  const repeated = Promise.withResolvers<void>()
  const work = interval(
    1,
    async () => {
      log.push('begins')
      await sleep(10)
      log.push('ends')
      if (log.length === 6) repeated.resolve()
      throw new Error(`error ${log.length / 2}`)
    },
    error => errors.push(String(error)),
  )
  // The timer does not keep the process alive.
  await Promise.all([repeated.promise, sleep(50)])
  await eventually(() => log.at(-1) === 'begins', 'another beginning', 1)
  await work.stop()
  assert.equal(log.at(-1), 'ends')
  const { length } = log
  assert.deepEqual(
    log,
    Array.from({ length }, (_, at) => (at % 2 ? 'ends' : 'begins')),
  )
  assert.deepEqual(
    errors,
    Array.from({ length: length / 2 }, (_, at) => `Error: error ${at + 1}`),
  )
  await sleep(20)
  assert.equal(log.length, length)
})

test('an error that is thrown at once ends nothing either', async () => {
  const twice = Promise.withResolvers<void>()
  let errors = 0
  const work = interval(
    1,
    () => {
      throw new Error('at once')
    },
    () => ++errors === 2 && twice.resolve(),
  )
  // The timer keeps no process alive.
  const alive = setInterval(() => {}, 1000)
  await twice.promise
  clearInterval(alive)
  await work.stop()
})
