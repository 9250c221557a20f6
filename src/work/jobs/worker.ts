/**
 * The job worker of a process (D84): finds running jobs, its own at once and others' every second, and
 * executes them step by step. A run of the worker loop is one step. Each step is one transaction with the
 * record of the job's progress, so that nothing is repeated or skipped when a process ends. Owns when, not
 * what.
 */
import { randomUUID } from 'node:crypto'
import type { Callers } from '../../accounts/callers.ts'
import type { Database, Log } from '../../db/open.ts'
import { DatabaseUnavailable } from '../../db/unavailable.ts'
import { Refusal } from '../../errors.ts'
import { reasonOf } from '../../log.ts'
import { WorkerLoop } from '../../waiting/worker-loop.ts'
import { claim, fail, findWork, release } from './progress.ts'
import { carryOutStep } from './steps.ts'
import type { JobKey } from './store.ts'

export type JobOptions = {
  readonly db: Database
  readonly callers: Callers
  readonly now: () => Date
  readonly log: Log
  /** retention of deleted records, in which they can be restored */
  readonly retentionDays: number
  readonly everyMs?: number
}

const everyDefaultMs = 1000
/** Concurrent steps of a process: more would slow down requests. */
const concurrency = 2
/** Delay of a job after a failed step, and the maximum number of failures in a row. */
const retryMs = 500
const attempts = 20

/** A job that this process works for. */
type Work = JobKey & {
  /** of the next step; 0: default */
  size: number
  /** number of failed steps in a row */
  failures: number
  /** True if it was woken since its last step began */
  isWoken: boolean
}

export class JobWorker {
  readonly #options: JobOptions
  readonly #holder = randomUUID()
  readonly #loop: WorkerLoop<Work>

  constructor(options: JobOptions) {
    this.#options = options
    this.#loop = new WorkerLoop({
      name: 'job_step',
      everyMs: options.everyMs ?? everyDefaultMs,
      concurrency,
      retryMs,
      look: async () => {
        for (const key of await findWork(options.db)) this.wake(key)
      },
      begin: ({ account, id }) => ({ account, id, size: 0, failures: 0, isWoken: false }),
      run: work => this.#step(work),
      isWoken: work => work.isWoken,
      // The database is unavailable, or there is a conflict with other writes: the step is retried.
      onError: () => {},
    })
  }

  /** Wakes the worker for a job. */
  wake(key: JobKey): void {
    const work = this.#loop.wake(key)
    if (work) work.isWoken = true
  }

  /** Stops after the current steps; other processes, or the next start, continue. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    const { db } = this.#options
    await Promise.all(this.#loop.tasks.map(work => release(db, work, this.#holder).catch(() => {})))
  }

  /** One step. The job may have lost its lease since the last one, which `claim` detects. */
  async #step(work: Work): Promise<'more' | 'done'> {
    const { db, log } = this.#options
    work.isWoken = false
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
