/**
 * The worker loop of a process: it works for tasks that it is woken for, until each is done. A task has one
 * run at a time, and a number of tasks have one at once. Accounts take turns, and a turn is one run: an
 * account without a run under way comes first, then the one that has waited longest. Its task goes on before
 * others of the account begin. After a run that throws, the task waits a while and is run again, as often as
 * it throws: the database may be away (D72, D84). Owns when; jobs and webhooks own what a run does and which
 * tasks there are, and lease.ts that no other process works for the same one.
 */
import { FairQueue } from './fair-queue.ts'
import { type Interval, interval } from './interval.ts'

/** What names a task. */
export type TaskKey = { readonly account: number; readonly id: number }

export type WorkerLoopOptions<Task> = {
  /** looks for tasks and wakes the loop for them, every so often */
  readonly look: () => Promise<unknown>
  readonly everyMs: number
  /** how many runs there are at a time */
  readonly concurrency: number
  /** how long a task waits after a run that threw */
  readonly retryMs: number
  /** the task of a key that the loop doesn't work for yet */
  begin(key: TaskKey): Task
  /** Does a part of the work. 'done': there is no more; a task that is woken again begins anew. */
  run(task: Task): Promise<'more' | 'done'>
  /** takes errors of `look` and `run` */
  onError(error: unknown): void
}

export class WorkerLoop<Task extends TaskKey> {
  readonly #options: WorkerLoopOptions<Task>
  /** all tasks that are not done, between their runs too, by name */
  readonly #tasks = new Map<string, Task>()
  readonly #waiting = new FairQueue<number, Task>()
  readonly #running = new Map<Task, Promise<void>>()
  readonly #looking: Interval
  #isStopped = false

  constructor(options: WorkerLoopOptions<Task>) {
    this.#options = options
    this.#looking = interval(options.everyMs, options.look, options.onError)
  }

  /** All tasks that are not done. */
  get tasks(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Works for a task, if it does not yet. Returns the task; undefined once the loop is stopped. */
  wake(key: TaskKey): Task | undefined {
    if (this.#isStopped) return undefined
    const known = this.#tasks.get(nameOf(key))
    if (known) return known
    const task = this.#options.begin(key)
    this.#tasks.set(nameOf(key), task)
    this.#waiting.push(key.account, task)
    this.#runNext()
    return task
  }

  /** Begins nothing more. Resolves when the runs under way have ended; those that throw are not repeated. */
  async stop(): Promise<void> {
    this.#isStopped = true
    void this.#looking.stop()
    await Promise.all(this.#running.values())
  }

  #runNext(): void {
    while (!this.#isStopped && this.#running.size < this.#options.concurrency) {
      const task = this.#waiting.shift(account => !this.#hasRun(account))
      if (!task) return
      this.#running.set(task, this.#run(task))
    }
  }

  async #run(task: Task): Promise<void> {
    const next = await this.#options.run(task).catch(error => {
      this.#options.onError(error)
      return 'retry' as const
    })
    this.#running.delete(task)
    if (next === 'more') return this.#goOn(task)
    if (next === 'done') this.#tasks.delete(nameOf(task))
    else setTimeout(() => this.#goOn(task), this.#options.retryMs).unref()
    this.#runNext()
  }

  #hasRun(account: number): boolean {
    return this.#running.keys().some(task => task.account === account)
  }

  #goOn(task: Task): void {
    this.#waiting.unshift(task.account, task)
    this.#runNext()
  }
}

function nameOf({ account, id }: TaskKey): string {
  return `${account} ${id}`
}
