/**
 * The embedded engine's life: its thread, its lock and its watchdog. Passes bytes between client and engine.
 * Deliberately does not know what the bytes mean (socket.ts), what runs in the thread (worker.ts) or any SQL.
 */
import type { Worker } from 'node:worker_threads'
import { publish } from '../../diagnostics.ts'
import type { Log } from '../open.ts'
import { asStartupError } from '../startup-error.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { makeDirectory } from './disk.ts'
import { watchDiskSpace } from './disk-space.ts'
import { acquireLock, type Lock } from './lock.ts'
import type { FromEngine, ToEngine } from './messages.ts'
import { paced } from './replies.ts'
import { raise } from './shared-memory.ts'
import { EngineSocket, type Outlet } from './socket.ts'
import { closeThread, startEngine, type Thread } from './thread.ts'

export type EngineOptions = {
  /** absent = in memory: the data is gone when the engine is closed or crashes */
  readonly dataDir?: string
  /** see EngineStart.template; absent: that of ready-cluster.ts */
  readonly template?: string
  /** time limit of one batch; after it the engine is ended and reopened */
  readonly hangLimitMs: number
  readonly log: Log
}

type State = 'open' | 'reopening' | 'lost' | 'closed'
type Waiter = { readonly socket: EngineSocket; readonly bytes: Uint8Array; readonly alone: boolean }

/**
 * While one batch runs, the next one is queued in the thread. Everything else waits here and becomes one
 * batch.
 */
const batchesAtOnce = 2
/** Interval at which the answers of a running batch are fetched. */
const lookEveryMs = 20
/** Time in which an interrupted statement has to end. */
const obeyWithinMs = 5000
/** Longest backoff before a failed engine is opened again. */
const longestWaitMs = 5000

export class Engine implements Outlet {
  /** number of files that the engine flushed to disk */
  fsyncs = 0
  /** number of batches sent to the engine so far; an unchanged number means that it is idle */
  batches = 0
  /** True if the disk has space. If not, no write should begin. */
  readonly hasDiskSpace: () => boolean
  private state: State = 'open'
  private running: Thread | undefined
  private readonly options: EngineOptions
  private readonly lock: Lock | undefined
  private readonly sockets = new Map<number, EngineSocket>()
  private readonly watchdog: NodeJS.Timeout
  private lookout: NodeJS.Timeout | undefined
  private reopening: Promise<void> | undefined
  private waiting: Waiter[] = []
  private scheduled = false
  /** connections of the batches in the thread, in their order */
  private underWay: number[] = []
  private progressAt = 0
  private interruptedAt: number | undefined
  private lastId = 0

  /** Opens the cluster, and makes it on the first start. Throws a StartupError when it can't be opened. */
  static async open(options: EngineOptions): Promise<Engine> {
    const { dataDir, log } = options
    if (dataDir === undefined) return new Engine(options, await startEngine(options), undefined)
    let engine: Engine | undefined
    let lock: Lock | undefined
    try {
      makeDirectory(dataDir)
      const onLost = () => engine?.lose('another process has taken the lock of the data directory')
      lock = await acquireLock(dataDir, onLost, log)
      engine = new Engine(options, await startEngine(options), lock)
      return engine
    } catch (error) {
      lock?.release()
      throw asStartupError(error, dataDir)
    }
  }

  private constructor(options: EngineOptions, running: Thread, lock: Lock | undefined) {
    this.options = options
    this.lock = lock
    const { dataDir, log } = options
    this.hasDiskSpace = dataDir === undefined ? () => true : watchDiskSpace(dataDir, log)
    this.adopt(running)
    this.watchdog = setInterval(() => this.watch(), Math.min(1000, options.hangLimitMs / 4)).unref()
  }

  get available(): boolean {
    return this.state === 'open'
  }

  /**
   * Connects to the engine. When the engine is unavailable, the connection breaks at once, as the client has
   * no other way to learn of it.
   */
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
    // This runs after all promises of this turn of the event loop, so that what they write goes out together.
    process.nextTick(() => {
      this.scheduled = false
      this.flush()
    })
  }

  /**
   * Interrupts the running statement (57014). Does nothing when an answer is on its way, because the next
   * statement may have begun. The engine may miss an interrupt that comes too early, so callers repeat it.
   * When repeating does nothing, the engine is ended.
   */
  interrupt(): void {
    if (!this.running || this.underWay.length === 0 || this.running.arriving.hasMore) return
    raise(this.running.interrupt)
    this.interruptedAt ??= performance.now()
  }

  forget(socket: EngineSocket): void {
    this.sockets.delete(socket.id)
    this.waiting = this.waiting.filter(item => item.socket !== socket)
  }

  /**
   * Ends the engine cleanly, with a checkpoint, and frees the data directory. Statements under way are ended.
   */
  async close(): Promise<void> {
    if (this.state === 'closed') return
    const worker = this.state === 'open' ? this.running?.worker : undefined
    this.state = 'closed'
    clearInterval(this.watchdog)
    clearInterval(this.lookout)
    this.breakConnections()
    // Nobody waits for the batches under way any more.
    const ending = setInterval(() => this.interrupt(), lookEveryMs)
    if (worker) await closeThread(worker)
    clearInterval(ending)
    // An engine that is being opened uses the files until it is ended.
    await this.reopening
    this.lock?.release()
  }

  private adopt(running: Thread): void {
    const { worker } = running
    this.running = running
    this.underWay = []
    this.waiting = []
    worker.on(
      'message',
      paced(message => this.receive(worker, message)),
    )
    worker.on('error', error => this.restart(worker, error.message))
    worker.on('exit', () => this.restart(worker, 'its thread ended'))
    // The thread may have ended before this listened.
    if (worker.threadId === -1) this.restart(worker, 'its thread ended')
  }

  private flush(): void {
    while (this.running && this.underWay.length < batchesAtOnce && this.waiting.length > 0) {
      const [first] = this.waiting
      let count = 1
      if (!first!.alone)
        while (this.waiting[count]?.socket === first!.socket && !this.waiting[count]!.alone) count++
      const parts = this.waiting.splice(0, count).map(item => item.bytes)
      // A copy in a buffer of its own, which can be transferred to the thread.
      const bytes = new Uint8Array(Buffer.concat(parts))
      if (this.underWay.length === 0) this.noteProgress()
      this.underWay.push(first!.socket.id)
      this.batches++
      const message: ToEngine = { kind: 'batch', connection: first!.socket.id, bytes }
      this.running.worker.postMessage(message, [bytes.buffer])
      this.lookout ??= setInterval(() => this.look(), lookEveryMs).unref()
    }
  }

  private receive(worker: Worker, message: FromEngine): void {
    if (worker !== this.running?.worker) return
    if (message.kind === 'failed') this.restart(worker, message.message)
    if (message.kind !== 'reply') return
    this.noteProgress()
    this.fsyncs = message.fsyncs
    this.pass(message.connection, this.running.arriving.rest(message.bytes))
    if (!message.last) return
    this.underWay.shift()
    this.flush()
  }

  /** Fetches the answers of a running batch early, so that they don't wait for its end. */
  private look(): void {
    const [connection] = this.underWay
    if (!this.running || connection === undefined) {
      clearInterval(this.lookout)
      this.lookout = undefined
      return
    }
    const early = this.running.arriving.early()
    if (early.length === 0) return
    this.noteProgress()
    this.pass(connection, early)
  }

  private pass(connection: number, { buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): void {
    if (length > 0) this.sockets.get(connection)?.push(Buffer.from(buffer, byteOffset, length))
  }

  private noteProgress(): void {
    this.progressAt = performance.now()
    this.interruptedAt = undefined
  }

  private watch(): void {
    const { running } = this
    if (!this.isHung() || !running) return
    // If this thread was busy, the answer is already queued and is received before this runs.
    setTimeout(() => {
      if (this.isHung()) this.restart(running.worker, 'a statement did not end')
    }, 20).unref()
  }

  private isHung(): boolean {
    if (this.underWay.length === 0) return false
    const now = performance.now()
    return (
      now - this.progressAt > this.options.hangLimitMs || now - (this.interruptedAt ?? now) > obeyWithinMs
    )
  }

  private restart(worker: Worker, reason: string): void {
    if (worker !== this.running?.worker || this.state !== 'open') return
    if (this.options.dataDir === undefined) {
      this.lose(`${reason}; it was in memory and is gone`)
      return
    }
    this.options.log(`The embedded database failed (${reason}) and is being reopened.`)
    this.state = 'reopening'
    publish('engine-restart', { isOpen: false })
    this.running = undefined
    this.breakConnections()
    this.reopening = this.reopen(worker)
  }

  private async reopen(failed: Worker): Promise<void> {
    await failed.terminate()
    let text = ''
    for (let waitMs = 100; this.state === 'reopening'; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        const running = await startEngine(this.options)
        // It may have been closed, or its lock lost, meanwhile.
        if (this.state !== 'reopening') return void (await running.worker.terminate())
        this.state = 'open'
        this.adopt(running)
        publish('engine-restart', { isOpen: true })
        this.options.log('The embedded database is open again.')
      } catch (error) {
        const { message } = asStartupError(error) as Error
        if (message !== text) this.options.log(`${message} It is tried again every few seconds.`)
        text = message
        await new Promise(resolve => setTimeout(resolve, waitMs).unref())
      }
    }
  }

  private lose(reason: string): void {
    if (this.state === 'closed') return
    this.state = 'lost'
    this.options.log(`The embedded database is lost (${reason}); the service has to be started again.`)
    const { running } = this
    this.running = undefined
    this.breakConnections()
    void running?.worker.terminate()
  }

  /**
   * Breaks all connections after this turn of the event loop, because the client may still be writing in it.
   * The engine is unavailable, so the client begins nothing new.
   */
  private breakConnections(): void {
    this.waiting = []
    const sockets = [...this.sockets.values()]
    setImmediate(() => sockets.map(socket => socket.destroy(this.unavailable())))
  }

  private unavailable(): DatabaseUnavailable {
    return new DatabaseUnavailable(`The embedded database is ${this.state}`)
  }
}
