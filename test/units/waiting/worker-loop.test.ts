/** The worker loop: the order of tasks, retries, and its stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { type TaskKey, WorkerLoop } from '../../../src/waiting/worker-loop.ts'

type Task = TaskKey & { runs: number; isWoken: boolean }
const never = 300_000

/** A loop whose runs end when and as the test decides. */
function watched(concurrency: number, retryMs = never) {
  const log: string[] = []
  const errors: unknown[] = []
  const runs = new Map<string, PromiseWithResolvers<'more' | 'done'>>()
  const loop = new WorkerLoop<Task>({
    name: 'test',
    everyMs: never,
    look: async () => {},
    concurrency,
    retryMs,
    begin: key => ({ ...key, runs: 0, isWoken: false }),
    isWoken: task => task.isWoken,
    run(task) {
      const name = `${task.account}.${task.id}`
      log.push(`${name} ${++task.runs}`)
      task.isWoken = false
      const run = Promise.withResolvers<'more' | 'done'>()
      runs.set(name, run)
      return run.promise
    },
    onError: error => errors.push(error),
  })
  const end = async (name: string, next: 'more' | 'done' | Error) => {
    const run = runs.get(name)!
    if (next instanceof Error) run.reject(next)
    else run.resolve(next)
    await turnOfLoop()
  }
  return { loop, log, errors, end }
}

test('accounts take turns; a task goes on before the next one of its account', async () => {
  const { loop, log, end } = watched(2)
  for (const id of [1, 2, 3]) loop.wake({ account: 1, id })
  assert.equal(loop.wake({ account: 1, id: 1 })?.runs, 1)
  loop.wake({ account: 2, id: 4 })
  assert.deepEqual(log.splice(0), ['1.1 1', '1.2 1'])
  await end('1.1', 'more')
  assert.deepEqual(log.splice(0), ['2.4 1'])
  await end('1.2', 'done')
  assert.deepEqual(log.splice(0), ['1.1 2'])
  await end('2.4', 'more')
  assert.deepEqual(log.splice(0), ['2.4 2'])
  await end('2.4', 'done')
  await end('1.1', 'done')
  assert.deepEqual(log.splice(0), ['1.3 1'])
  loop.wake({ account: 1, id: 1 })
  assert.deepEqual(log, ['1.1 1'], 'a task that was done begins anew')
  const stopped = loop.stop()
  await end('1.1', 'done')
  await end('1.3', 'more')
  await stopped
  assert.deepEqual(
    loop.tasks.map(({ id }) => id),
    [3],
  )
  assert.equal(loop.wake({ account: 1, id: 9 }), undefined)
  assert.deepEqual(log, ['1.1 1'])
})

test('a run that throws is reported and repeated with the same task, and keeps no other waiting', async () => {
  const { loop, log, errors, end } = watched(1, 1)
  loop.wake({ account: 1, id: 1 })
  loop.wake({ account: 2, id: 2 })
  await end('1.1', new Error('away'))
  assert.deepEqual(log, ['1.1 1', '2.2 1'])
  await end('2.2', 'done')
  while (log.length < 3) await turnOfLoop()
  assert.equal(log[2], '1.1 2')
  assert.deepEqual(errors.map(String), ['Error: away'])
  await end('1.1', 'done')
  assert.deepEqual(loop.tasks, [])
  await loop.stop()
})

test('a task that is woken as its run ends is run again, however late that is', async () => {
  const { loop, log, end } = watched(1)
  const task = loop.wake({ account: 1, id: 1 })!
  const ended = end('1.1', 'done')
  // The run has returned 'done', and the loop has not handled it yet.
  queueMicrotask(() => {
    task.isWoken = true
  })
  await ended
  assert.deepEqual(log, ['1.1 1', '1.1 2'])
  assert.equal(loop.wake({ account: 1, id: 1 }), task)
  await end('1.1', 'done')
  assert.deepEqual([log.length, loop.tasks], [2, []])
  task.isWoken = true
  const other = loop.wake({ account: 1, id: 1 })
  assert.notEqual(other, task)
  await end('1.1', new Error('away'))
  await loop.stop()
})
