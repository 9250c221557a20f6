/**
 * The connection pool. A statement takes the connection with the least to do, except those in exclusive use.
 * Owns the number of connections, and transactions. Does not know which engine it is, nor the schema.
 */
import { within } from '../../waiting/timeout.ts'
import { type Ask, type AskTogether, OneRefused } from '../ask.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import type { Session, SessionOptions } from './session.ts'

/** The queries of a transaction. Rows are text, as everywhere. */
export type Transaction = {
  readonly unsafe: Ask
  /**
   * Runs a batch of statements atomically (savepoint). If one is refused, the transaction goes on without
   * them. Await it before the next query.
   */
  readonly together: AskTogether
}

export type Pool = {
  readonly unsafe: Ask
  readonly together: AskTogether
  /** Gives `use` exclusive use of a connection. */
  hold<T>(use: (session: Session) => Promise<T>): Promise<T>
  /**
   * Runs `act` in a transaction on a connection of its own; it queries by `tx` only; `mode` as in "BEGIN
   * mode". Throws the error of `act` or, if `act` ignored one, the first error of its statements; then
   * nothing is saved.
   */
  begin<T>(act: (tx: Transaction) => Promise<T>, mode?: string): Promise<T>
  /**
   * Ends all connections after the running statements, waiting five seconds for them; waiters for a
   * connection are refused.
   */
  end(): Promise<void>
}

/** Events of a connection. */
export type Life = Pick<SessionOptions, 'onAnswer' | 'onOver'>

export type PoolOptions = {
  /** A new connection; it connects only after `delayMs`, the backoff after failures. */
  open(life: Life, delayMs: number): Session
  /** maximum number of connections */
  readonly size: number
}

/**
 * Statements that are pipelined on one connection: more would wait longer, and nothing would be done sooner.
 */
const depth = 100
/**
 * Quick statements of one turn of the event loop that share a connection. Sent together they cost fewer
 * system calls; more of them would wait for each other longer.
 */
const sharedMax = 16
/** Maximum age: a server's memory for a session grows with its use; addresses of servers change. */
const oldestMs = 45 * 60_000
const closeWithinMs = 5000

export class SessionPool implements Pool {
  readonly #options: PoolOptions
  readonly #sessions = new Set<Session>()
  /** connections in exclusive use by a transaction → promise of its end */
  readonly #taken = new Map<Session, Promise<void>>()
  readonly #waiting: Waiting[] = []
  /** connection shared by quick statements of this turn of the event loop, and how many more may share it */
  #shared: { readonly session: Session; left: number } | null = null
  /** number of failed connections in a row */
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

  /**
   * Ends the connections on which something is asked and nothing has come for so long: their server is gone
   * without a word, and the system would wait for it for a quarter of an hour. Where there is one, those that
   * have nothing to do and are as silent may be no better.
   */
  endSilent(afterMs: number): void {
    const silent = [...this.#sessions].filter(({ silentMs }) => silentMs > afterMs)
    if (silent.every(({ underWay }) => underWay === 0)) return
    for (const session of silent)
      if (session.underWay > 0 || !this.#taken.has(session))
        session.end(new DatabaseUnavailable('The database does not answer'))
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

  /** Uses any connection, without waiting for the answers of its earlier queries. */
  #use<T>(ask: (session: Session) => Promise<T>, choose?: () => Session | undefined): Promise<T> {
    return new Promise((resolve, reject) =>
      this.#acquire({ take: session => void ask(session).then(resolve, reject), refuse: reject }, choose),
    )
  }

  /** Assigns a connection at once if there is one. */
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

  /** The connection of the last quick statement of this turn, or another. */
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

/** A waiter for a connection. */
type Waiting = { take(session: Session): void; refuse(error: unknown): void }

function closed(): DatabaseUnavailable {
  return new DatabaseUnavailable('The database is closed')
}

const savepoint: Parameters<Ask> = ['SAVEPOINT attempt', []]
const release: Parameters<Ask> = ['RELEASE SAVEPOINT attempt', []]

/** Runs `act` as Pool.begin does, over a connection in exclusive use. */
export async function transact<T>(
  session: Session,
  act: (tx: Transaction) => Promise<T>,
  mode: string,
): Promise<T> {
  let failure: unknown
  let isOver = false
  const unsafe: Ask = (...statement) => {
    // After the end of the transaction it would commit on its own.
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
    // The failed statement was not awaited: PostgreSQL's answer to COMMIT is then only that it rolled back.
    if (failure) throw failure
    return result
  } catch (error) {
    isOver = true
    await session.ask('ROLLBACK', []).catch(reason => session.end(reason))
    // "The transaction is aborted" only says that another statement failed before.
    throw (error as { code?: unknown }).code === '25P02' ? (failure ?? error) : error
  }
}
