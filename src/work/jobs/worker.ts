/**
 * The job worker of a process (D84): finds running jobs, its own at once and others' every two seconds,
 * and executes them step by step. A run of the worker loop is one step. Each step is one transaction with the
 * record of the job's progress, so that nothing is repeated or skipped when a process ends. Owns when, not
 * what.
 */
import { randomUUID } from 'node:crypto'
import type { Log } from '../../db/open.ts'
import { databaseRefusal } from '../../db/refusal.ts'
import { Refusal } from '../../errors.ts'
import { reasonOf } from '../../log.ts'
import { WorkerLoop } from '../../waiting/worker-loop.ts'
import { claim, fail, findWork, lease } from './progress.ts'
import { carryOutStep, type Means, type NextStep } from './steps.ts'
import type { JobKey } from './store.ts'

export type JobOptions = Means & { readonly log: Log }

const everyMs = 2000
/** Concurrent steps of a process: more would slow down requests. */
const concurrency = 2
/** Delay of a job after a failed step, and the maximum number of failures in a row. */
const retryMs = 500
const attempts = 20

/** A job that this process works for. */
type JobTask = JobKey & {
  /** null: the job has to be claimed first */
  next: NextStep | null
  /** number of failed steps in a row */
  failures: number
  /** True if it was woken since its last step began */
  isWoken: boolean
}

export class JobWorker {
  readonly #options: JobOptions
  readonly #holder = randomUUID()
  readonly #loop: WorkerLoop<JobTask>

  constructor(options: JobOptions) {
    this.#options = options
    this.#loop = new WorkerLoop({
      name: 'job_step',
      everyMs,
      concurrency,
      retryMs,
      look: async () => {
        for (const key of await findWork(options.db)) this.wake(key)
      },
      begin: ({ account, id }) => ({ account, id, next: null, failures: 0, isWoken: false }),
      run: work => this.#step(work),
      isWoken: work => work.isWoken,
      // The database is unavailable, or there is a conflict with other writes: the step is retried.
      onError: () => {},
    })
  }

  wake(key: JobKey): void {
    const work = this.#loop.wake(key)
    if (work) work.isWoken = true
  }

  /** Stops after the current steps; other processes, or the next start, continue. */
  async stop(): Promise<void> {
    await this.#loop.stop()
    const { db } = this.#options
    await Promise.all(this.#loop.tasks.map(work => lease.release(db, work, this.#holder).catch(() => {})))
  }

  /** One step. The job may have lost its lease since the last one, which the step detects. */
  async #step(work: JobTask): Promise<'more' | 'done'> {
    const { log } = this.#options
    work.isWoken = false
    try {
      const step = work.next ?? (await this.#claim(work))
      work.next = step && (await carryOutStep(this.#options, step, this.#holder))
      if (work.next === null) return 'done'
      work.failures = 0
      return 'more'
    } catch (error) {
      work.next = null
      if (error instanceof Refusal && error.slug !== 'busy_record') return this.#fail(work, error.message)
      work.failures++
      if (isTransient(error) || work.failures < attempts) throw error
      log(`Job ${work.id} of account ${work.account} failed: ${reasonOf(error)}`)
      return this.#fail(work, 'The service failed; the log says more.')
    }
  }

  async #claim(key: JobKey): Promise<NextStep | null> {
    const job = await claim(this.#options.db, key, this.#holder)
    return job && { job, size: null }
  }

  async #fail(key: JobKey, why: string): Promise<'done'> {
    await fail(this.#options.db, key, this.#holder, why).catch(() => {})
    return 'done'
  }
}

/** True if others or the database's state are the reason, so that the same step may go well later. */
export function isTransient(error: unknown): boolean {
  const slug = error instanceof Refusal ? error.slug : databaseRefusal(error)?.slug
  const isLocked = (error as { code?: string }).code === '55P03'
  return isLocked || slug === 'database_unavailable' || slug === 'busy_record'
}
