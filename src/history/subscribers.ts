/**
 * Long polling for the next event of an account (D71). Writes of this process wake the waiting requests; for
 * those of other processes, one statement polls the last `seq` of their accounts a few times a second. Knows
 * no HTTP.
 */
import { publish } from '../diagnostics.ts'
import { Refusal } from '../errors.ts'
import type { Reader, Transaction } from '../records/store.ts'
import { ask, sql } from '../sql.ts'
import { coalesce } from '../waiting/coalesce.ts'

/** Interval in milliseconds at which other processes' writes are polled. */
const everyMs = 250
/** Maximum number of waiting requests per account in a process. */
const waitingMax = 200

type Waiter = { readonly after: number; readonly end: () => void }

/** The waiting requests of this process. */
export class Subscribers {
  readonly #db: Reader
  readonly #waiting = new Map<number, Set<Waiter>>()
  /** One statement at a time. Ignores errors: the requests wait on, and fail when they are sent again. */
  readonly #ask = coalesce('event_poll', 1, (_of: 'all') => this.#askOnce().catch(() => {}))
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(db: Reader) {
    this.#db = db
  }

  /** True if the process is about to end: no request may wait any more. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /**
   * Resolves when the account has an event after `after`, on timeout, when `signal` is aborted, or when the
   * process is about to end. Throws `overloaded` if too many requests wait.
   */
  async wait(account: number, after: number, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#isStopped || signal.aborted || milliseconds <= 0) return
    const all = this.#waiting.get(account) ?? new Set()
    if (all.size >= waitingMax) {
      const detail = 'Too many wait for events of this account; ask without wait, a few times a minute.'
      throw new Refusal('overloaded', detail, [], { 'retry-after': '5' })
    }
    const ended = new Promise<void>(resolve => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        if (all.delete(waiting)) publish('followers', { change: -1 })
        if (all.size === 0) this.#waiting.delete(account)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      const waiting = { after, end }
      signal.addEventListener('abort', end)
      this.#waiting.set(account, all.add(waiting))
      publish('followers', { change: 1 })
    })
    this.#timer ??= setInterval(() => void this.#ask('all'), everyMs).unref()
    // An event may have come since the caller looked.
    void this.#ask('all')
    await ended
  }

  /** Call it after each write of this process to an account. */
  wrote(account: number): void {
    if (this.#waiting.has(account)) void this.#ask('all')
  }

  /** Ends every wait, and any that would begin. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
    for (const { end } of [...this.#waiting.values()].flatMap(all => [...all])) end()
  }

  /** Reads the last `seq` of the accounts, if any request waits. */
  async #askOnce(): Promise<void> {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const accounts = `{${[...this.#waiting.keys()].join()}}`
    const statement = sql`SELECT account_id::text AS account, last_seq::text AS last FROM counter
        WHERE account_id = ANY(${accounts}::bigint[])`
    const rows = await ask(this.#db, statement)
    for (const { account, last } of rows)
      for (const { after, end } of [...(this.#waiting.get(Number(account)) ?? [])])
        if (Number(last) > after) end()
  }
}

/** Subscriber to the writes of this process to accounts. */
export type WriteListener = { wrote(account: number): void }

/** The same database, which notifies all of these after each write. */
export function notifyAfterWrite<D extends Required<Transaction>>(
  db: D,
  all: () => readonly WriteListener[],
): D {
  const wrote = (account: string) => {
    for (const one of all()) one.wrote(Number(account))
  }
  return {
    ...db,
    write: async (account, content) => {
      const rows = await db.write(account, content)
      wrote(account)
      return rows
    },
    transaction: async (turn, act) => {
      let commits = false
      const result = await db.transaction(turn, async tx => {
        const outcome = await act(tx)
        commits = outcome.commits
        return outcome
      })
      if (commits) wrote(turn.account)
      return result
    },
  }
}
