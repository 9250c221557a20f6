/**
 * The engine's thread, seen from the service: its start on a cluster, which the first start makes; its end,
 * and how it is interrupted. Knows no connection and no lock.
 */
import { Worker } from 'node:worker_threads'
import { within } from '../../waiting/timeout.ts'
import { StartupError } from '../startup-error.ts'
import { finishCluster, prepareCluster } from './data-directory.ts'
import type { EngineOptions } from './engine.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'
import { readyCluster } from './ready-cluster.ts'
import { ReplyReader } from './replies.ts'
import type { Interrupt } from './shared-memory.ts'

/** Throws a StartupError when the cluster can't be made or opened. The caller holds the lock. */
export async function startEngine(options: EngineOptions): Promise<Thread> {
  const { dataDir, template = readyCluster, log } = options
  if (dataDir === undefined) return startThread({ template })
  const { cluster, fresh } = prepareCluster(dataDir, log)
  const running = await startThread({ directory: cluster, ...(fresh && { template }) })
  if (fresh) await finishCluster(dataDir)
  return running
}

export type Thread = {
  readonly worker: Worker
  readonly arriving: ReplyReader
  readonly interrupt: Interrupt
}

const afterDamage =
  'Its files seem to be damaged: keep them, and restore a backup into another DATA_DIR (docs/operating.md).'

/** Starts the thread on the cluster. Throws a StartupError when the cluster can't be opened. */
export function startThread(start: EngineStart): Promise<Thread> {
  // The thread needs no flags of this process and would refuse some of them, such as --input-type.
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start, execArgv: [] })
  return new Promise((resolve, reject) => {
    const stopListening = () => worker.off('error', onError).off('exit', onExit).off('message', onMessage)
    const fail = (reason: string, isDamaged = false) => {
      stopListening()
      void worker.terminate()
      const [text, where] = [reason.replace(/\.$/, ''), start.directory ?? 'memory']
      const advice = isDamaged && start.directory ? ` ${afterDamage}` : ''
      reject(new StartupError(`The database in ${where} could not be opened: ${text}.${advice}`))
    }
    const onError = (error: Error) => fail(error.message)
    const onExit = () => fail('its thread ended')
    const onMessage = (message: FromEngine) => {
      if (message.kind === 'failed') fail(message.message, message.isOfDatabase)
      if (message.kind !== 'open') return
      stopListening()
      resolve({ worker, arriving: new ReplyReader(message.replies), interrupt: message.interrupt })
    }
    worker.on('error', onError).on('exit', onExit).on('message', onMessage)
  })
}

const closeWithinMs = 60_000

/** Lets the thread close the cluster, for a minute at most, and ends it. */
export async function closeThread(worker: Worker): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  worker.on('message', (message: FromEngine) => message.kind === 'closed' && resolve())
  worker.on('exit', () => resolve())
  worker.postMessage({ kind: 'close' } satisfies ToEngine)
  // The next start recovers a cluster that was not closed cleanly.
  await within(closed, closeWithinMs, () => {})
  await worker.terminate()
}
