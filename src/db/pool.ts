/**
 * Which connection a statement takes: any that nobody has to themselves, the one with the least to do. Owns
 * how many there are, and transactions. Does not know which engine it is, nor the schema.
 */

import { within } from '../waiting/timeout.ts'
import { type Ask, type AskTogether, OneRefused } from './ask.ts'
import type { Session, SessionOptions } from './session.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** What is asked within a transaction. Rows are text, as everywhere. */
export type Transaction = {
  readonly unsafe: Ask
  /**
   * Carries statements out whole or not at all. Where one is refused, the transaction goes on without them.
   * Wait for its answer before you ask for more.
   */
  readonly together: AskTogether
}

export type Pool = {
  readonly unsafe: Ask
  readonly together: AskTogether
  /** Gives `use` a connection that nobody else is given till it is done. */
  hold<T>(use: (session: Session) => Promise<T>): Promise<T>
  /**
   * Carries out `act` in a transaction on a connection of its own, and what it asks by `tx` only; `mode` as
   * in "BEGIN mode". Throws what `act` throws or, where it went on after one, the first error of its
   * statements; then nothing is saved.
   */
  begin<T>(act: (tx: Transaction) => Promise<T>, mode?: string): Promise<T>
  /**
   * Ends all connections after what is under way, waiting five seconds for it; what waits for a connection is
   * refused.
   */
  end(): Promise<void>
}

/** What a connection tells whoever opened it. */
export type Life = Pick<SessionOptions, 'onAnswer' | 'onOver'>

export type PoolOptions = {
  /** A new connection; it should begin only after `delayMs`, as those before could not be had. */
  open(life: Life, delayMs: number): Session
  /** how many connections there may be */
  readonly size: number
}

/**
 * Statements that wait for their answers on one connection: more would wait longer, and nothing would be done
 * sooner.
 */
const depth = 100
/**
 * Quick statements of one turn of the event loop that share a connection. Sent together they cost fewer calls
 * of the system; more of them would wait for each other longer.
 */
const sharedMax = 16
/** A server's memory for a session grows with what it has seen; addresses of servers change. */
const oldestMs = 45 * 60_000
const closeWithinMs = 5000

export class SessionPool implements Pool {
  readonly #options: PoolOptions
  readonly #sessions = new Set<Session>()
  /** those that a transaction has to itself, and until when */
  readonly #taken = new Map<Session, Promise<void>>()
  readonly #waiting: Waiting[] = []
  /** what quick statements of this turn of the event loop share, and how many more may */
  #shared: { readonly session: Session; left: number } | null = null
  /** how many connections in a row could not be had */
  #failures = 0
  #isEnded = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  readonly unsafe: Ask = (...statement) =>
    this.#use(
      session => session.ask<never>(...statement),
      statement[2]?.isQuick ? () => this.#share() : undefined,
    )

  readonly together: AskTogether = statements => this.#use(session => session.askTogether(statements))

  async hold<T>(use: (session: Session) => Promise<T>): Promise<T> {
    const { promise: end, resolve: release } = Promise.withResolvers<void>()
    const session = await new Promise<Session>((resolve, reject) => {
      const take = (session: Session) => {
        this.#taken.set(session, end)
        resolve(session)
      }
      this.#acquire({ take, refuse: reject })
    })
    try {
      return await use(session)
    } finally {
      this.#taken.delete(session)
      release()
      this.#goOn()
    }
  }

  begin<T>(act: (tx: Transaction) => Promise<T>, mode = ''): Promise<T> {
    return this.hold(session => transact(session, act, mode))
  }

  async end(): Promise<void> {
    this.#isEnded = true
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed())
    const close = async (session: Session) => {
      await within(this.#taken.get(session) ?? Promise.resolve(), closeWithinMs, () => {})
      await session.close()
    }
    await Promise.all([...this.#sessions].map(close))
  }

  /** Asks any connection, without waiting for what it was asked before. */
  #use<T>(ask: (session: Session) => Promise<T>, choose?: () => Session | undefined): Promise<T> {
    return new Promise((resolve, reject) =>
      this.#acquire({ take: session => void ask(session).then(resolve, reject), refuse: reject }, choose),
    )
  }

  /** Gives a connection at once if there is one. */
  #acquire(waiting: Waiting, choose = () => this.#choose()): void {
    const session = this.#waiting.length === 0 && !this.#isEnded ? choose() : undefined
    if (session) waiting.take(session)
    else if (this.#isEnded) waiting.refuse(closed())
    else this.#waiting.push(waiting)
  }

  #goOn(): void {
    while (this.#waiting.length > 0 && !this.#isEnded) {
      const session = this.#choose()
      if (!session) return
      this.#waiting.shift()!.take(session)
    }
  }

  /** The connection that the last quick statement of this turn was given, or another. */
  #share(): Session | undefined {
    const shared = this.#shared
    if (shared && shared.left > 0 && this.#isFree(shared.session)) {
      shared.left--
      return shared.session
    }
    const session = this.#choose()
    if (!session) return undefined
    if (!shared) setImmediate(() => (this.#shared = null))
    this.#shared = { session, left: sharedMax - 1 }
    return session
  }

  #isFree(session: Session): boolean {
    return this.#sessions.has(session) && !this.#taken.has(session) && session.underWay < depth
  }

  #choose(): Session | undefined {
    let best: Session | undefined
    for (const session of this.#sessions) {
      const { underWay, openedAt } = session
      if (!this.#isFree(session)) continue
      if (underWay === 0 && performance.now() - openedAt > oldestMs) this.#retire(session)
      else if (!best || underWay < best.underWay) best = session
    }
    const isFull = this.#sessions.size >= this.#options.size
    if (best && (best.underWay === 0 || isFull)) return best
    return isFull ? undefined : this.#add()
  }

  #add(): Session {
    const life: Life = {
      onAnswer: () => {
        if (session.hasAnswered) this.#failures = 0
        this.#goOn()
      },
      onOver: () => {
        this.#sessions.delete(session)
        if (!session.hasAnswered) this.#failures++
        this.#goOn()
      },
    }
    const session = this.#options.open(life, this.#failures && Math.min(20 * 2 ** this.#failures, 500))
    this.#sessions.add(session)
    return session
  }

  #retire(session: Session): void {
    this.#sessions.delete(session)
    void session.close()
  }
}

/** What waits for a connection. */
type Waiting = { take(session: Session): void; refuse(error: unknown): void }

function closed(): DatabaseUnavailable {
  return new DatabaseUnavailable('The database is closed')
}

const savepoint: Parameters<Ask> = ['SAVEPOINT attempt', []]
const release: Parameters<Ask> = ['RELEASE SAVEPOINT attempt', []]

/** Carries out `act` as Pool.begin does, over a connection that nobody else uses. */
export async function transact<T>(
  session: Session,
  act: (tx: Transaction) => Promise<T>,
  mode: string,
): Promise<T> {
  let failure: unknown
  let isOver = false
  const unsafe: Ask = (...statement) => {
    // After its end it would take effect by itself.
    if (isOver) return Promise.reject(new Error('The transaction is over'))
    return session.ask<never>(...statement).catch(error => {
      failure ??= error
      throw error
    })
  }
  const together: AskTogether = async statements => {
    if (isOver) throw new Error('The transaction is over')
    try {
      const [, ...answers] = await session.askTogether([savepoint, ...statements, release])
      return answers.slice(0, -1)
    } catch (error) {
      if (!(error instanceof OneRefused)) throw error
      await unsafe('ROLLBACK TO SAVEPOINT attempt', []).then(() => unsafe(...release))
      throw new OneRefused(error.which - 1, error.cause as Error)
    }
  }
  try {
    await session.ask(`BEGIN ${mode}`, [])
    const result = await act({ unsafe, together })
    if (failure) throw failure
    isOver = true
    await session.ask('COMMIT', [])
    // Of one that was not awaited: PostgreSQL's answer to COMMIT is then only that it rolled back.
    if (failure) throw failure
    return result
  } catch (error) {
    isOver = true
    await session.ask('ROLLBACK', []).catch(reason => session.end(reason))
    // "The transaction is aborted" only says that another statement failed before.
    throw (error as { code?: unknown }).code === '25P02' ? (failure ?? error) : error
  }
}
