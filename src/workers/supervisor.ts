/**
 * Several processes on one port (D167): starts the workers, replaces those that end, names the one that
 * leads, passes counts on, and restarts them one after the other. Serves nothing itself.
 */
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../db/open.ts'
import type { Ready } from '../welcome.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** A worker that ends sooner is replaced after this time, so that a fault at each start costs little. */
const shortLifeMs = 5_000
/** A worker stops itself sooner (serve.ts). */
const stopWithinMs = 16_000

export type SupervisorOptions = {
  readonly count: number
  /** where all listen; not 0, which is another one for those that come when none is left */
  readonly port: number
  readonly say: Log
}

export class Supervisor {
  readonly #options: SupervisorOptions
  /** the workers that are ready, the oldest first */
  readonly #ready: Worker[] = []
  /** workers that stop on purpose */
  readonly #planned = new WeakSet<Worker>()
  #leader: Worker | null = null
  #hasStarted = false
  #isStopping = false
  readonly #started = Promise.withResolvers<void>()
  #restart = this.#started.promise

  constructor(options: SupervisorOptions) {
    this.#options = options
    cluster.on('message', (from, message: FromWorker) => {
      // Connections that were handed to it came before this answer.
      if (message.kind === 'leaving') tell(from, { kind: 'left' })
      if (message.kind !== 'counts') return
      for (const worker of this.#ready) if (worker !== from) tell(worker, message)
    })
  }

  /** True from the call of `stop` on. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Starts all. Resolves when they are ready; to null if the first one ended before: it has said why. */
  async start(): Promise<Ready | null> {
    // The first migrates the database and makes its first account.
    const first = await this.#begin()
    if (!first) return null
    this.#hasStarted = true
    await Promise.all(Array.from({ length: this.#options.count - 1 }, () => this.#begin()))
    this.#started.resolve()
    return first
  }

  /**
   * Replaces all workers, once they have started, one after the other; each stops when its successor is
   * ready. Ends at a successor that can't start: the others serve on.
   */
  restart(): Promise<void> {
    this.#restart = this.#restart.then(() => this.#replaceAll())
    return this.#restart
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(living().map(worker => this.#stopped(worker)))
  }

  kill(): void {
    for (const worker of living()) worker.process.kill('SIGKILL')
  }

  async #replaceAll(): Promise<void> {
    // The leader, which is the oldest, comes last: so the lead passes on once.
    for (const worker of [...this.#ready].reverse()) {
      if (this.#isStopping) return
      if (worker.isDead()) continue
      if (!(await this.#begin())) {
        this.#options.say('The restart ended: a new worker could not start. The others serve on.')
        return
      }
      await this.#stopped(worker)
    }
    // A worker that ended meanwhile may have found its place taken by a successor of another one.
    while (!this.#isStopping && this.#staying() < this.#options.count && (await this.#begin()));
    this.#options.say('All worker processes were restarted.')
  }

  /** Starts a worker. Resolves when it is ready, or to null if it ended before. */
  #begin(): Promise<Ready | null> {
    const worker = cluster.fork({ PORT: String(this.#options.port) })
    const startedAt = performance.now()
    return new Promise(resolve => {
      const ended = (how: string) => {
        resolve(null)
        void this.#replace(worker, performance.now() - startedAt, how)
      }
      worker.on('message', (message: FromWorker) => {
        if (message.kind !== 'ready') return
        this.#ready.push(worker)
        if (!this.#leader) this.#passLead()
        resolve(message.what)
      })
      worker.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`))
      worker.on('error', error => {
        // One without a process can't exit.
        if (worker.process.pid === undefined) ended(error.message)
        else this.#options.say(`A worker process could not be reached: ${error.message}`)
      })
    })
  }

  async #replace(worker: Worker, livedMs: number, how: string): Promise<void> {
    const place = this.#ready.indexOf(worker)
    if (place >= 0) this.#ready.splice(place, 1)
    if (worker === this.#leader) this.#passLead()
    // The first one ends the start.
    if (this.#isStopping || this.#planned.has(worker) || !this.#hasStarted) return
    this.#options.say(`A worker process ended (${how}); another takes its place.`)
    if (livedMs < shortLifeMs) await delay(shortLifeMs - livedMs)
    // A restart may have filled its place meanwhile.
    if (!this.#isStopping && this.#staying() < this.#options.count) await this.#begin()
  }

  /** One worker leads, never two: the next one begins when the one before has ended. */
  #passLead(): void {
    this.#leader = (!this.#isStopping && this.#ready.find(worker => !this.#planned.has(worker))) || null
    if (this.#leader) tell(this.#leader, { kind: 'lead' })
  }

  /** Number of workers that live, or start, and don't stop. */
  #staying(): number {
    return living().filter(worker => !this.#planned.has(worker)).length
  }

  #stopped(worker: Worker): Promise<void> {
    return new Promise(resolve => {
      // It may have ended while its successor started.
      if (worker.isDead()) return resolve()
      const late = setTimeout(() => worker.process.kill('SIGKILL'), stopWithinMs)
      worker.once('exit', () => {
        clearTimeout(late)
        resolve()
      })
      if (!this.#planned.has(worker)) worker.process.kill('SIGTERM')
      this.#planned.add(worker)
    })
  }
}

function living(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter(worker => !worker!.isDead()) as Worker[]
}

/** Sends a message. A worker that is gone gets none; its `exit` is handled elsewhere. */
export function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, () => {})
}
