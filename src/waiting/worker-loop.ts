/**
 * The worker loop of a process: it runs the tasks that it is woken for until each is done. A task has one run
 * at a time, and a limited number of tasks run at once. Accounts take turns, a run each: one without a
 * running task comes first, then the one that has waited longest. A task is finished before others of its
 * account begin. A run that throws is retried after a delay, without a limit: the database may be away (D72,
 * D84). Jobs and webhooks own their runs and tasks, lease.ts excludes other processes.
 */
import { FairQueue } from './fair-queue.ts'
import { type Interval, interval } from './interval.ts'

export type TaskKey = { readonly account: number; readonly id: number }

export type WorkerLoopOptions<Task> = {
  /** what the tasks are, for diagnostics */
  readonly name: string
  /** finds tasks and wakes the loop for them, at an interval */
  readonly look: () => Promise<unknown>
  readonly everyMs: number
  /** number of runs at a time */
  readonly concurrency: number
  /** delay of a retry */
  readonly retryMs: number
  /** creates the task of a key that the loop doesn't have yet */
  begin(key: TaskKey): Task
  /** Does a part of the work. 'done': nothing is left; waking it again begins a new task. */
  run(task: Task): Promise<'more' | 'done'>
  /**
   * True if the task was woken after it last looked for work. Asked when a run ends with 'done': then the
   * task runs again.
   */
  isWoken(task: Task): boolean
  /** takes errors of `look` and `run` */
  onError(error: unknown): void
}

export class WorkerLoop<Task extends TaskKey> {
  readonly #options: WorkerLoopOptions<Task>
  /** all unfinished tasks, also between their runs, by name */
  readonly #tasks = new Map<string, Task>()
  readonly #waiting: FairQueue<number, Task>
  readonly #running = new Map<Task, Promise<void>>()
  readonly #looking: Interval
  #isStopped = false

  constructor(options: WorkerLoopOptions<Task>) {
    this.#options = options
    this.#waiting = new FairQueue(options.name)
    this.#looking = interval(options.everyMs, options.look, options.onError)
  }

  get tasks(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Starts working for a task, if it isn't already. Returns the task; undefined once the loop is stopped. */
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

  /** Starts nothing more. Resolves when the running tasks have ended; those that throw are not retried. */
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
    if (next === 'more' || (next === 'done' && this.#options.isWoken(task))) return this.#goOn(task)
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
