/** A semaphore whose permits keys share fairly: the order of waiters, and the end of a wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { FairSemaphore, WaitEnded } from '../../../src/waiting/fair-semaphore.ts'

/** The holders of permits, in order, and functions that release them. */
function watched(semaphore: FairSemaphore<string>) {
  const log: string[] = []
  const releases = new Map<string, () => void>()
  return {
    log,
    acquire: async (name: string, signal?: AbortSignal) => {
      releases.set(name, await semaphore.acquire(name[0]!, signal))
      log.push(name)
    },
    async release(name: string) {
      releases.get(name)!()
      await turnOfLoop()
    },
  }
}

test('a free permit goes to the key that holds the fewest, among equals to the one that has waited longest', async () => {
  const semaphore = new FairSemaphore<string>({ name: 'test', permits: 3, permitsOf: () => 2 })
  const { log, acquire, release } = watched(semaphore)
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(name => acquire(name))
  await turnOfLoop()
  assert.deepEqual(log.splice(0), ['a1', 'a2', 'b1'])
  assert.equal(semaphore.heldBy('a'), 2)
  assert.equal(semaphore.isWaitedFor('a'), true)
  await release('a1')
  assert.deepEqual(log.splice(0), ['c1'])
  await release('a1')
  assert.deepEqual(log, [], 'a permit is released once')
  await release('c1')
  assert.deepEqual(log.splice(0), ['a3'])
  await release('b1')
  assert.deepEqual(log, ['b2'])
  await Promise.all(all)
  assert.equal(semaphore.isWaitedFor(), false)
})

test('the order may be another one, and the number of permits of a key may change', async () => {
  let most = 1
  const given: string[] = []
  const semaphore = new FairSemaphore<string>({
    name: 'test',
    permits: 9,
    permitsOf: key => (key === 'z' ? 0 : most),
    compare: (one, other) => (one < other ? 1 : -1),
    onAcquire: key => given.push(key),
  })
  const { acquire } = watched(semaphore)
  for (const name of ['a1', 'b1', 'a2', 'b2', 'z1']) void acquire(name)
  assert.deepEqual(given.splice(0), ['a', 'b'])
  most = 2
  semaphore.admit()
  assert.deepEqual(given, ['b', 'a'])
})

test('a wait that is aborted or takes too long takes no permit', async () => {
  const semaphore = new FairSemaphore<string>({ name: 'test', permits: 1, permitsOf: () => 1, waitMs: 1 })
  const patient = new FairSemaphore<string>({ name: 'test', permits: 1, permitsOf: () => 1 })
  const release = await semaphore.acquire('a')
  await assert.rejects(semaphore.acquire('b'), /no turn in time/)
  const releasePatient = await patient.acquire('a')
  const leaving = new AbortController()
  const gone = patient.acquire('b', leaving.signal)
  const next = patient.acquire('c')
  leaving.abort()
  releasePatient()
  await assert.rejects(gone, (error: WaitEnded) => error.code === '55P03')
  const releaseNext = await next
  await assert.rejects(patient.acquire('d', AbortSignal.abort()), WaitEnded)
  releaseNext()
  release()
  await Promise.all([semaphore.acquire('b'), patient.acquire('b')])
})
