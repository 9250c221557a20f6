/**
 * The jobs that one process carries out (D84): finds those that are to be done, its own at once and others'
 * every second, and takes them step by step. Each step is one transaction with the note of how far the job
 * has come, so that nothing is done twice or left out whenever a process ends. Owns when, not what.
 */
import { randomUUID } from 'node:crypto'
import type { Callers } from '../accounts/callers.ts'
import type { Log } from '../db/open.ts'
import { DatabaseUnavailable } from '../db/unavailable.ts'
import { Refusal } from '../errors.ts'
import { reasonOf } from '../log.ts'
import { claim, fail, findWork, release } from './holding.ts'
import { carryOutStep, type JobDatabase } from './steps.ts'
import type { JobKey } from './store.ts'

export type JobOptions = {
  readonly db: JobDatabase
  readonly callers: Callers
  readonly now: () => Date
  readonly log: Log
  /** how long what is deleted can be restored */
  readonly retentionDays: number
  readonly everyMs?: number
}

const everyDefaultMs = 1000
/** How many jobs a process carries out at a time: more would take the database from requests. */
const atOnce = 2
/** How long a job waits after it could not be gone on with. */
const againMs = 500
const attempts = 20

export class JobWorker {
  readonly #options: JobOptions
  readonly #lease = randomUUID()
  readonly #working = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, JobKey>()
  readonly #timer: NodeJS.Timeout
  #isStopped = false

  constructor(options: JobOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#look(), options.everyMs ?? everyDefaultMs).unref()
  }

  /** To be called when a job is to be done. */
  wake(key: JobKey): void {
    const name = `${key.account} ${key.id}`
    if (this.#isStopped || this.#working.has(name)) return
    this.#waiting.set(name, key)
    this.#beginNext()
  }

  /** Ends the work after the steps under way; other processes, or the next start, go on. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await Promise.all(this.#working.values())
  }

  async #look(): Promise<void> {
    const found = await findWork(this.#options.db).catch(() => [])
    for (const key of found) this.wake(key)
  }

  #beginNext(): void {
    for (const [name, key] of this.#waiting) {
      if (this.#working.size >= atOnce) return
      this.#waiting.delete(name)
      const work = this.#work(key).finally(() => {
        this.#working.delete(name)
        if (!this.#isStopped) this.#beginNext()
      })
      this.#working.set(name, work)
    }
  }

  async #work(key: JobKey): Promise<void> {
    const { db, log } = this.#options
    let failures = 0
    for (let size = 0; !this.#isStopped; ) {
      try {
        const job = await claim(db, key, this.#lease)
        if (!job) return
        const next = await carryOutStep(this.#options, job, this.#lease, size)
        if (next === null) return
        size = next
        failures = 0
      } catch (error) {
        if (error instanceof Refusal && error.slug !== 'busy_record')
          return await fail(db, key, this.#lease, error.message).catch(() => {})
        const isTransient = error instanceof DatabaseUnavailable || error instanceof Refusal
        failures++
        if (!isTransient && failures >= attempts) {
          log(`Job ${key.id} of account ${key.account} failed: ${reasonOf(error)}`)
          return await fail(db, key, this.#lease, 'The service failed; the log says more.').catch(() => {})
        }
        await new Promise(resolve => setTimeout(resolve, againMs).unref())
      }
    }
    await release(db, key, this.#lease).catch(() => {})
  }
}
