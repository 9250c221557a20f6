/**
 * The jobs that one process carries out (D84): finds those that are to be done, its own at once and others'
 * every second, and takes them step by step. Accounts take turns, and a turn is one step. Each step is one
 * transaction with the note of how far the job has come, so that nothing is done twice or left out whenever a
 * process ends. Owns when, not what.
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
/** How many steps a process carries out at a time: more would take the database from requests. */
const atOnce = 2
/** How long a job waits after it could not be gone on with. */
const againMs = 500
const attempts = 20

/** A job that this process works for, between its steps too. */
type Work = {
  readonly name: string
  readonly key: JobKey
  /** of the next step; 0: as usual */
  size: number
  /** how many steps in a row have failed */
  failures: number
}

export class JobWorker {
  readonly #options: JobOptions
  readonly #lease = randomUUID()
  /** all that this process works for, by name */
  readonly #known = new Map<string, Work>()
  /** account → its jobs that wait, the next first; the account that has waited longest comes first */
  readonly #waiting = new Map<number, Work[]>()
  readonly #underWay = new Map<Work, Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #isStopped = false

  constructor(options: JobOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#look(), options.everyMs ?? everyDefaultMs).unref()
  }

  /** To be called when a job is to be done. */
  wake(key: JobKey): void {
    const name = `${key.account} ${key.id}`
    if (this.#isStopped || this.#known.has(name)) return
    const work = { name, key, size: 0, failures: 0 }
    this.#known.set(name, work)
    this.#queueOf(key.account).push(work)
    this.#beginNext()
  }

  /** Ends the work after the steps under way; other processes, or the next start, go on. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await Promise.all(this.#underWay.values())
    const { db } = this.#options
    const left = [...this.#known.values()]
    await Promise.all(left.map(({ key }) => release(db, key, this.#lease).catch(() => {})))
  }

  async #look(): Promise<void> {
    const found = await findWork(this.#options.db).catch(() => [])
    for (const key of found) this.wake(key)
  }

  #queueOf(account: number): Work[] {
    const queue = this.#waiting.get(account) ?? []
    this.#waiting.set(account, queue)
    return queue
  }

  #beginNext(): void {
    while (!this.#isStopped && this.#underWay.size < atOnce) {
      const account = this.#nextAccount()
      if (account === undefined) return
      const queue = this.#waiting.get(account)!
      const work = queue.shift()!
      // The account comes last from now on.
      this.#waiting.delete(account)
      if (queue.length > 0) this.#waiting.set(account, queue)
      this.#underWay.set(work, this.#turn(work))
    }
  }

  /** An account without a step under way comes before one that has one. */
  #nextAccount(): number | undefined {
    const busy = new Set([...this.#underWay.keys()].map(({ key }) => key.account))
    const all = [...this.#waiting.keys()]
    return all.find(account => !busy.has(account)) ?? all[0]
  }

  /** One step; then the job waits for its next turn. It may lose its lease meanwhile: `claim` says so. */
  async #turn(work: Work): Promise<void> {
    const next = await this.#step(work)
    this.#underWay.delete(work)
    if (next === 'ended') this.#known.delete(work.name)
    else if (next === 'goes on') this.#queueOf(work.key.account).unshift(work)
    else setTimeout(() => this.#retry(work), againMs).unref()
    this.#beginNext()
  }

  #retry(work: Work): void {
    this.#queueOf(work.key.account).unshift(work)
    this.#beginNext()
  }

  async #step(work: Work): Promise<'goes on' | 'ended' | 'failed'> {
    const { db, log } = this.#options
    const { key } = work
    try {
      const job = await claim(db, key, this.#lease)
      const next = job && (await carryOutStep(this.#options, job, this.#lease, work.size))
      if (next === null) return 'ended'
      Object.assign(work, { size: next, failures: 0 })
      return 'goes on'
    } catch (error) {
      if (error instanceof Refusal && error.slug !== 'busy_record') return this.#fail(key, error.message)
      const isTransient = error instanceof DatabaseUnavailable || error instanceof Refusal
      work.failures++
      if (isTransient || work.failures < attempts) return 'failed'
      log(`Job ${key.id} of account ${key.account} failed: ${reasonOf(error)}`)
      return this.#fail(key, 'The service failed; the log says more.')
    }
  }

  async #fail(key: JobKey, why: string): Promise<'ended'> {
    await fail(this.#options.db, key, this.#lease, why).catch(() => {})
    return 'ended'
  }
}
