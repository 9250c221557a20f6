/**
 * The embedded engine's life: its thread, its lock, its watchdog, and how the client's bytes get to it and back.
 * Deliberately does not know what the bytes say (socket.ts), what runs in the thread (worker.ts) or any SQL.
 */
import { Worker } from 'node:worker_threads'
import type { Log } from '../open.ts'
import { asStartupError, StartupError } from '../startup-error.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { finishCluster, prepareCluster } from './data-directory.ts'
import { makeDirectory } from './disk.ts'
import { acquireLock, type Lock } from './lock.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'
import { EngineSocket, type Outlet } from './socket.ts'

export type EngineOptions = {
  /** absent = in memory: gone when closed, and not to be brought back after a crash */
  readonly dataDir?: string
  /** in memory only: see EngineStart.template */
  readonly template?: string
  /** how long the engine may be silent over one batch before it is ended and reopened */
  readonly hangLimitMs: number
  readonly log: Log
}

type State = 'open' | 'reopening' | 'lost' | 'closed'
type Waiting = { readonly socket: EngineSocket; readonly bytes: Uint8Array; readonly alone: boolean }

/** While one batch runs the next lies ready in the thread; everything else waits here and becomes one batch. */
const batchesAtOnce = 2

export class Engine implements Outlet {
  /** how often the engine wrote a file through to the disk */
  fsyncs = 0
  /** batches given to the engine so far; tells whether anybody uses it */
  batches = 0
  private state: State = 'open'
  private worker: Worker | undefined
  private readonly options: EngineOptions
  private readonly lock: Lock | undefined
  private readonly sockets = new Map<number, EngineSocket>()
  private readonly watchdog: NodeJS.Timeout
  private reopening: Promise<void> | undefined
  private waiting: Waiting[] = []
  private scheduled = false
  private inFlight = 0
  private progressAt = 0
  private lastId = 0

  /** Opens the cluster, making it on the first start. Throws a StartupError if that cannot be. */
  static async open(options: EngineOptions): Promise<Engine> {
    const { dataDir, log } = options
    if (dataDir === undefined) return new Engine(options, await startWorker(options), undefined)
    let engine: Engine | undefined
    let lock: Lock | undefined
    try {
      makeDirectory(dataDir)
      lock = await acquireLock(dataDir, () => engine?.lose('another process has taken the lock of the data directory'), log)
      engine = new Engine(options, await startWorker(options), lock)
      return engine
    } catch (error) {
      lock?.release()
      throw asStartupError(error)
    }
  }

  private constructor(options: EngineOptions, worker: Worker, lock: Lock | undefined) {
    this.options = options
    this.lock = lock
    this.adopt(worker)
    this.watchdog = setInterval(() => this.watch(), Math.min(1000, options.hangLimitMs / 4)).unref()
  }

  /** Whether the engine would answer. */
  get available(): boolean {
    return this.state === 'open'
  }

  /** A connection to the engine. If it cannot be had, one that breaks at once: the client has no other way to be told. */
  connect(): EngineSocket {
    const socket = new EngineSocket(++this.lastId, this)
    if (this.available) this.sockets.set(socket.id, socket)
    else setImmediate(() => socket.destroy(this.unavailable()))
    return socket
  }

  send(socket: EngineSocket, bytes: Uint8Array, alone: boolean): void {
    if (!this.available) return
    this.waiting.push({ socket, bytes, alone })
    if (this.scheduled) return
    this.scheduled = true
    // Runs after all the promises of this turn: what they write goes out together.
    process.nextTick(() => {
      this.scheduled = false
      this.flush()
    })
  }

  forget(socket: EngineSocket): void {
    this.sockets.delete(socket.id)
    this.waiting = this.waiting.filter(item => item.socket !== socket)
  }

  /** Ends the engine cleanly, with a checkpoint, and frees the data directory. Statements under way are carried out first. */
  async close(): Promise<void> {
    if (this.state === 'closed') return
    const worker = this.state === 'open' ? this.worker : undefined
    this.state = 'closed'
    clearInterval(this.watchdog)
    this.breakConnections()
    if (worker) await closeWorker(worker, this.options.hangLimitMs)
    // An engine that is just being opened has its hands on the files until it is ended.
    await this.reopening
    this.lock?.release()
  }

  private adopt(worker: Worker): void {
    this.worker = worker
    this.inFlight = 0
    this.waiting = []
    worker.on('message', (message: FromEngine) => this.receive(worker, message))
    worker.on('error', error => this.restart(worker, error.message))
    worker.on('exit', () => this.restart(worker, 'its thread ended'))
    // The thread may have ended before anybody listened.
    if (worker.threadId === -1) this.restart(worker, 'its thread ended')
  }

  private flush(): void {
    while (this.worker && this.inFlight < batchesAtOnce && this.waiting.length > 0) {
      const [first] = this.waiting
      let count = 1
      if (!first!.alone) while (this.waiting[count]?.socket === first!.socket && !this.waiting[count]!.alone) count++
      const bytes = join(this.waiting.splice(0, count))
      if (this.inFlight++ === 0) this.progressAt = performance.now()
      this.batches++
      const message: ToEngine = { kind: 'batch', connection: first!.socket.id, bytes }
      this.worker.postMessage(message, [bytes.buffer])
    }
  }

  private receive(worker: Worker, message: FromEngine): void {
    if (worker !== this.worker || message.kind !== 'reply') return
    this.progressAt = performance.now()
    this.fsyncs = message.fsyncs
    if (message.bytes.length > 0) this.sockets.get(message.connection)?.push(Buffer.from(message.bytes.buffer))
    if (!message.last) return
    this.inFlight--
    this.flush()
  }

  /** PostgreSQL's statement_timeout needs a timer signal, which WebAssembly has not: a statement can only be ended with its thread. */
  private watch(): void {
    const { worker } = this
    if (!this.isHung() || !worker) return
    // If it was this thread that was busy, the answer lies waiting and is received before this runs.
    setTimeout(() => {
      if (this.isHung()) this.restart(worker, `no answer within ${this.options.hangLimitMs} ms`)
    }, 20).unref()
  }

  private isHung(): boolean {
    return this.inFlight > 0 && performance.now() - this.progressAt > this.options.hangLimitMs
  }

  private restart(worker: Worker, reason: string): void {
    if (worker !== this.worker || this.state !== 'open') return
    if (this.options.dataDir === undefined) {
      this.lose(`${reason}; it was in memory and is gone`)
      return
    }
    this.options.log(`The embedded database failed (${reason}) and is being reopened.`)
    this.state = 'reopening'
    this.worker = undefined
    this.breakConnections()
    this.reopening = this.reopen(worker)
  }

  private async reopen(failed: Worker): Promise<void> {
    await failed.terminate()
    for (let waitMs = 100; this.state === 'reopening'; waitMs = Math.min(waitMs * 2, 10_000)) {
      try {
        const worker = await startWorker(this.options)
        // It may have been closed, or its lock lost, meanwhile.
        if (this.state !== 'reopening') {
          await worker.terminate()
          return
        }
        this.state = 'open'
        this.adopt(worker)
        this.options.log('The embedded database is open again.')
      } catch (error) {
        this.options.log(`The embedded database could not be reopened: ${error instanceof Error ? error.message : error}`)
        await new Promise(resolve => setTimeout(resolve, waitMs).unref())
      }
    }
  }

  private lose(reason: string): void {
    if (this.state === 'closed') return
    this.state = 'lost'
    this.options.log(`The embedded database is lost (${reason}); the service has to be started again.`)
    const { worker } = this
    this.worker = undefined
    this.breakConnections()
    void worker?.terminate()
  }

  /** Not before the client has written what it has begun to (see transaction.ts); it begins nothing new, the engine being unavailable. */
  private breakConnections(): void {
    this.waiting = []
    const sockets = [...this.sockets.values()]
    setImmediate(() => setImmediate(() => sockets.map(socket => socket.destroy(this.unavailable()))))
  }

  private unavailable(): DatabaseUnavailable {
    return new DatabaseUnavailable(`The embedded database is ${this.state}`)
  }
}

async function startWorker(options: EngineOptions): Promise<Worker> {
  const { dataDir, template } = options
  if (dataDir === undefined) return awaitOpen(template === undefined ? {} : { template })
  const { cluster, fresh } = prepareCluster(dataDir, options.log)
  const worker = await awaitOpen({ directory: cluster })
  if (fresh) await finishCluster(dataDir)
  return worker
}

function awaitOpen(start: EngineStart): Promise<Worker> {
  // The thread needs none of this process's flags, some of which (--input-type) it would refuse.
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start, execArgv: [] })
  return new Promise((resolve, reject) => {
    const stopListening = () => worker.off('error', onError).off('exit', onExit).off('message', onMessage)
    const fail = (reason: string) => {
      stopListening()
      void worker.terminate()
      reject(new StartupError(`The embedded database could not be opened: ${reason}`))
    }
    const onError = (error: Error) => fail(error.message)
    const onExit = () => fail('its thread ended')
    const onMessage = (message: FromEngine) => {
      if (message.kind === 'failed') fail(message.message)
      if (message.kind !== 'open') return
      stopListening()
      resolve(worker)
    }
    worker.on('error', onError).on('exit', onExit).on('message', onMessage)
  })
}

async function closeWorker(worker: Worker, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>(resolve => {
    // A cluster that is not closed cleanly is recovered by the next start.
    timer = setTimeout(resolve, limitMs)
    worker.on('message', (message: FromEngine) => message.kind === 'closed' && resolve())
    worker.on('exit', () => resolve())
    worker.postMessage({ kind: 'close' } satisfies ToEngine)
  })
  clearTimeout(timer)
  await worker.terminate()
}

/** A buffer of its own, so that it can be handed over to the thread. */
function join(items: readonly Waiting[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(items.reduce((sum, item) => sum + item.bytes.length, 0))
  let offset = 0
  for (const item of items) {
    joined.set(item.bytes, offset)
    offset += item.bytes.length
  }
  return joined
}
