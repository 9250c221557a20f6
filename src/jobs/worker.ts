/**
 * The jobs that one process carries out (D84): finds those that are to be done, its own at once and others'
 * every second, and takes them step by step. A run of the worker loop is one step. Each step is one
 * transaction with the note of how far the job has come, so that nothing is done twice or left out whenever a
 * process ends. Owns when, not what.
 */
import { randomUUID } from 'node:crypto'
import type { Callers } from '../accounts/callers.ts'
import type { Log } from '../db/open.ts'
import { DatabaseUnavailable } from '../db/unavailable.ts'
import { Refusal } from '../errors.ts'
import { reasonOf } from '../log.ts'
import { WorkerLoop } from '../waiting/worker-loop.ts'
import { claim, fail, findWork, release } from './progress.ts'
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
const concurrency = 2
/** How long a job waits after a step that failed, and how often in a row one may fail. */
const retryMs = 500
const attempts = 20

/** A job that this process works for. */
type Work = JobKey & {
  /** of the next step; 0: as usual */
  size: number
  /** how many steps in a row have failed */
  failures: number
}

export class JobWorker {
  readonly #options: JobOptions
  readonly #holder = randomUUID()
  readonly #loop: WorkerLoop<Work>

  constructor(options: JobOptions) {
    this.#options = options
    this.#loop = new WorkerLoop({
      everyMs: options.everyMs ?? everyDefaultMs,
      concurrency,
      retryMs,
      look: async () => {
        for (const key of await findWork(options.db)) this.wake(key)
      },
      begin: ({ account, id }) => ({ account, id, size: 0, failures: 0 }),
      run: work => this.#step(work),
      // The database is away, or somebody changes the same records: the step is tried again.
      onError: () => {},
    })
  }

  /** To be called when a job is to be done. */
  wake(key: JobKey): void {
    this.#loop.wake(key)
  }

  /** Ends the work after the steps under way; other processes, or the next start, go on. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    const { db } = this.#options
    await Promise.all(this.#loop.tasks.map(work => release(db, work, this.#holder).catch(() => {})))
  }

  /** One step. The job may have lost its lease since the last one: `claim` says so. */
  async #step(work: Work): Promise<'more' | 'done'> {
    const { db, log } = this.#options
    try {
      const job = await claim(db, work, this.#holder)
      const next = job && (await carryOutStep(this.#options, job, this.#holder, work.size))
      if (next === null) return 'done'
      Object.assign(work, { size: next, failures: 0 })
      return 'more'
    } catch (error) {
      if (error instanceof Refusal && error.slug !== 'busy_record') return this.#fail(work, error.message)
      const isTransient = error instanceof DatabaseUnavailable || error instanceof Refusal
      work.failures++
      if (isTransient || work.failures < attempts) throw error
      log(`Job ${work.id} of account ${work.account} failed: ${reasonOf(error)}`)
      return this.#fail(work, 'The service failed; the log says more.')
    }
  }

  async #fail(key: JobKey, why: string): Promise<'done'> {
    await fail(this.#options.db, key, this.#holder, why).catch(() => {})
    return 'done'
  }
}
