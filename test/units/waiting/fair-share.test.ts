/** A fair-share scheduler: time slices, cooling down, and its order (D102). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep, setImmediate as turnOfLoop } from 'node:timers/promises'
import { WaitEnded } from '../../../src/waiting/fair-semaphore.ts'
import { FairShare } from '../../../src/waiting/fair-share.ts'

const never = 300_000

function share(options: Partial<ConstructorParameters<typeof FairShare>[0]> = {}): FairShare {
  const one = {
    name: 'test',
    permits: 2,
    permitsOfOne: 1,
    isWaitedFor: () => false,
    idleMs: () => Number.POSITIVE_INFINITY,
    waitMs: never,
    sliceMs: never,
  }
  return new FairShare({ ...one, ...options })
}

/** Work that ends when it is aborted. */
const endless = (ended: AbortSignal) =>
  new Promise<string>(resolve => ended.addEventListener('abort', () => resolve('aborted')))

test('an account alone has all permits; while others ask, it has a part', async () => {
  const scheduler = share()
  const log: string[] = []
  const ends: (() => void)[] = []
  const act = (name: string) => async () => {
    log.push(name)
    await new Promise<void>(resolve => ends.push(resolve))
  }
  const all = ['a1', 'a2', 'a3', 'b1'].map(name => scheduler.run(name[0]!, undefined, act(name)))
  await turnOfLoop()
  assert.deepEqual(log, ['a1', 'a2'])
  ends[0]!()
  await turnOfLoop()
  assert.deepEqual(log, ['a1', 'a2', 'b1'])
  ends[2]!()
  await turnOfLoop()
  assert.equal(log.length, 3, 'a still has one')
  ends[1]!()
  await turnOfLoop()
  assert.deepEqual(log, ['a1', 'a2', 'b1', 'a3'])
  ends[3]!()
  await Promise.all(all)
  scheduler.stop()
})

test('work that keeps another account waiting is aborted after its slice, and no other', async () => {
  const scheduler = share({ permits: 1, sliceMs: 1 })
  const long = scheduler.run('a', undefined, endless)
  const own = scheduler.run('a', undefined, async () => 'own')
  await sleep(300)
  const next = scheduler.run('b', undefined, async () => 'next')
  assert.deepEqual(await Promise.all([long, own, next]), ['aborted', 'own', 'next'])
  scheduler.stop()
})

test('time in which the process stood still is no part of a slice', async () => {
  const scheduler = share({ permits: 1, sliceMs: 1500 })
  const done = Promise.withResolvers<void>()
  let ended: AbortSignal | undefined
  const long = scheduler.run('a', undefined, signal => {
    ended = signal
    return done.promise
  })
  const next = scheduler.run('b', undefined, async () => {})
  await turnOfLoop()
  const until = performance.now() + 2000
  while (performance.now() < until);
  await sleep(200)
  assert.equal(ended!.aborted, false)
  done.resolve()
  await Promise.all([long, next])
  scheduler.stop()
})

test('work is aborted when its caller leaves, before its turn and in it; its error passes through', async () => {
  const scheduler = share({ permits: 1 })
  const [first, second] = [new AbortController(), new AbortController()]
  const running = scheduler.run('a', first.signal, endless)
  const waiting = scheduler.run('a', second.signal, endless)
  second.abort()
  await assert.rejects(waiting, WaitEnded)
  first.abort()
  assert.equal(await running, 'aborted')
  await assert.rejects(
    scheduler.run('a', undefined, async () => {
      throw new Error('its own')
    }),
    /its own/,
  )
  assert.equal(await scheduler.run('a', undefined, async () => 'free'), 'free')
  scheduler.stop()
})

test('an account that cools down has its next turn after as long; others have theirs', async () => {
  const scheduler = share({ permits: 1 })
  await scheduler.run('a', undefined, async (_, coolDown) => {
    await sleep(50)
    coolDown(false)
  })
  const log: string[] = []
  await Promise.all(
    ['a', 'b'].map(account => scheduler.run(account, undefined, async () => void log.push(account))),
  )
  assert.deepEqual(log, ['b', 'a'])
  scheduler.stop()
})

test('a cooldown that ends early lasts until the others are done', async () => {
  /** How long it lasts if the others are done when it has looked three times. */
  const cooldown = async () => {
    let [looks, since, ms] = [0, 0, 0]
    const scheduler = share({ permits: 1, idleMs: () => (++looks < 4 ? 0 : 100) })
    await scheduler.run('a', undefined, async (_, coolDown) => {
      await sleep(400)
      coolDown(true)
      since = performance.now()
    })
    const next = async () => {
      ms = performance.now() - since
      assert.ok(looks >= 4 || ms > 399, `${looks} looks in ${ms} ms`)
    }
    await Promise.all([scheduler.run('a', undefined, next), sleep(400)])
    scheduler.stop()
    return ms
  }
  const all: number[] = []
  // The least of three: a process that stands still looks late.
  do all.push(await cooldown())
  while (all.length < 3 && all.at(-1)! > 300)
  assert.ok(Math.min(...all) < 300, all.join())
})
