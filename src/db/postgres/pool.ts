/**
 * The connection pool. A statement takes the connection with the least to do, except those in exclusive use.
 * Owns the number of connections, and transactions. Does not know which engine it is, nor the schema.
 */
import { beginWait } from '../../diagnostics.ts'
import { within } from '../../waiting/timeout.ts'
import { type Ask, type AskBatch, OneRefused } from '../ask.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import type { Connection } from './connection.ts'
import type { ConnectionOptions } from './connection-options.ts'

/** The queries of a transaction. Rows are text, as everywhere. */
export type PoolTransaction = {
  readonly query: Ask
  /**
   * Runs a batch of statements atomically (savepoint). If one is refused, the transaction goes on without
   * them. Await it before the next query.
   */
  readonly batch: AskBatch
}

export type Pool = {
  readonly query: Ask
  readonly batch: AskBatch
  /** Gives `use` exclusive use of a connection. */
  withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Runs `act` in a transaction on a connection of its own; it queries by `tx` only; `mode` as in "BEGIN
   * mode". Throws the error of `act` or, if `act` ignored one, the first error of its statements; then
   * nothing is saved.
   */
  begin<T>(act: (tx: PoolTransaction) => Promise<T>, mode?: string): Promise<T>
  /**
   * Ends all connections after the running statements, waiting five seconds for them; waiters for a
   * connection are refused.
   */
  end(): Promise<void>
}

/** Events of a connection. */
export type Life = Pick<ConnectionOptions, 'onAnswer' | 'onOver'>

export type PoolOptions = {
  /** A new connection; it connects only after `delayMs`, the backoff after failures. */
  open(life: Life, delayMs: number): Connection
  /** maximum number of connections */
  readonly size: number
  /** True if, outside of a transaction, a message may follow another one before that is answered */
  readonly isPipelined: boolean
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

export class ConnectionPool implements Pool {
  /** when a batch or a transaction last began or ended, by performance.now() */
  wroteAt = Number.NEGATIVE_INFINITY
  readonly #options: PoolOptions
  readonly #connections = new Set<Connection>()
  /** connections in exclusive use by a transaction → promise of its end */
  readonly #taken = new Map<Connection, Promise<void>>()
  readonly #waiting: Waiter[] = []
  /** connection shared by quick statements of this turn of the event loop, and how many more may share it */
  #shared: { readonly connection: Connection; left: number } | null = null
  /** number of failed connections in a row */
  #failures = 0
  #isEnded = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  readonly query: Ask = (...statement) =>
    this.#use(
      connection => connection.ask<never>(...statement),
      statement[2]?.isQuick ? () => this.#share() : undefined,
    )

  readonly batch: AskBatch = statements =>
    this.#writing(this.#use(connection => connection.askBatch(statements)))

  async withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const { promise: end, resolve: release } = Promise.withResolvers<void>()
    const connection = await new Promise<Connection>((resolve, reject) => {
      const take = (connection: Connection) => {
        this.#taken.set(connection, end)
        resolve(connection)
      }
      this.#acquire({ take, refuse: reject })
    })
    try {
      return await use(connection)
    } finally {
      this.#taken.delete(connection)
      release()
      this.#goOn()
    }
  }

  begin<T>(act: (tx: PoolTransaction) => Promise<T>, mode = ''): Promise<T> {
    return this.#writing(this.withConnection(connection => runTransaction(connection, act, mode)))
  }

  /**
   * Ends the connections on which something is asked and nothing has come for so long: their server is gone
   * without a word, and the system would wait for it for a quarter of an hour. Where there is one, those that
   * have nothing to do and are as silent may be no better.
   */
  endSilent(afterMs: number): void {
    const silent = [...this.#connections].filter(({ silentMs }) => silentMs > afterMs)
    if (silent.every(({ underWay }) => underWay === 0)) return
    for (const connection of silent)
      if (connection.underWay > 0 || !this.#taken.has(connection))
        connection.end(new DatabaseUnavailable('The database does not answer'))
  }

  async end(): Promise<void> {
    this.#isEnded = true
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed())
    const close = async (connection: Connection) => {
      await within(this.#taken.get(connection) ?? Promise.resolve(), closeWithinMs, () => {})
      await connection.close()
    }
    await Promise.all([...this.#connections].map(close))
  }

  /** Uses any connection, without waiting for the answers of its earlier queries. */
  #use<T>(ask: (connection: Connection) => Promise<T>, choose?: () => Connection | undefined): Promise<T> {
    return new Promise((resolve, reject) =>
      this.#acquire(
        { take: connection => void ask(connection).then(resolve, reject), refuse: reject },
        choose,
      ),
    )
  }

  #writing<T>(write: Promise<T>): Promise<T> {
    const note = () => {
      this.wroteAt = performance.now()
    }
    note()
    return write.finally(note)
  }

  /** Assigns a connection at once if there is one. */
  #acquire(waiting: Waiter, choose = () => this.#choose()): void {
    const connection = this.#waiting.length === 0 && !this.#isEnded ? choose() : undefined
    if (connection) waiting.take(connection)
    else if (this.#isEnded) waiting.refuse(closed())
    else this.#waiting.push(measured(waiting))
  }

  #goOn(): void {
    while (this.#waiting.length > 0 && !this.#isEnded) {
      const connection = this.#choose()
      if (!connection) return
      this.#waiting.shift()!.take(connection)
    }
  }

  /** The connection of the last quick statement of this turn, or another. */
  #share(): Connection | undefined {
    const shared = this.#shared
    if (shared && shared.left > 0 && this.#isFree(shared.connection)) {
      shared.left--
      return shared.connection
    }
    const connection = this.#choose()
    if (!connection) return undefined
    if (!shared) setImmediate(() => (this.#shared = null))
    this.#shared = { connection, left: sharedMax - 1 }
    return connection
  }

  #isFree(connection: Connection): boolean {
    const most = this.#options.isPipelined ? depth : 1
    return this.#connections.has(connection) && !this.#taken.has(connection) && connection.underWay < most
  }

  #choose(): Connection | undefined {
    let best: Connection | undefined
    for (const connection of this.#connections) {
      const { underWay, openedAt } = connection
      if (!this.#isFree(connection)) continue
      if (underWay === 0 && performance.now() - openedAt > oldestMs) this.#retire(connection)
      else if (!best || underWay < best.underWay) best = connection
    }
    const isFull = this.#connections.size >= this.#options.size
    if (best && (best.underWay === 0 || isFull)) return best
    return isFull ? undefined : this.#add()
  }

  #add(): Connection {
    const life: Life = {
      onAnswer: () => {
        if (connection.hasAnswered) this.#failures = 0
        this.#goOn()
      },
      onOver: () => {
        this.#connections.delete(connection)
        if (!connection.hasAnswered) this.#failures++
        this.#goOn()
      },
    }
    const connection = this.#options.open(life, this.#failures && Math.min(20 * 2 ** this.#failures, 500))
    this.#connections.add(connection)
    return connection
  }

  #retire(connection: Connection): void {
    this.#connections.delete(connection)
    void connection.close()
  }
}

/** A waiter for a connection. */
type Waiter = { take(connection: Connection): void; refuse(error: unknown): void }

function measured({ take, refuse }: Waiter): Waiter {
  const end = beginWait('connection')
  return {
    take(connection) {
      end()
      take(connection)
    },
    refuse(error) {
      end()
      refuse(error)
    },
  }
}

function closed(): DatabaseUnavailable {
  return new DatabaseUnavailable('The database is closed')
}

const savepoint: Parameters<Ask> = ['SAVEPOINT attempt', []]
const release: Parameters<Ask> = ['RELEASE SAVEPOINT attempt', []]

/** Runs `act` as Pool.begin does, over a connection in exclusive use. */
export async function runTransaction<T>(
  connection: Connection,
  act: (tx: PoolTransaction) => Promise<T>,
  mode: string,
): Promise<T> {
  let failure: unknown
  let isOver = false
  const query: Ask = (...statement) => {
    // After the end of the transaction it would commit on its own.
    if (isOver) return Promise.reject(new Error('The transaction is over'))
    return connection.ask<never>(...statement).catch(error => {
      failure ??= error
      throw error
    })
  }
  const batch: AskBatch = async statements => {
    if (isOver) throw new Error('The transaction is over')
    try {
      const [, ...answers] = await connection.askBatch([savepoint, ...statements, release])
      return answers.slice(0, -1)
    } catch (error) {
      if (!(error instanceof OneRefused)) throw error
      await query('ROLLBACK TO SAVEPOINT attempt', []).then(() => query(...release))
      throw new OneRefused(error.which - 1, error.cause as Error)
    }
  }
  try {
    await connection.begin(mode)
    const result = await act({ query, batch })
    if (failure) throw failure
    isOver = true
    await connection.ask('COMMIT', [])
    // The failed statement was not awaited: PostgreSQL's answer to COMMIT is then only that it rolled back.
    if (failure) throw failure
    return result
  } catch (error) {
    isOver = true
    await connection.ask('ROLLBACK', []).catch(reason => connection.end(reason))
    // "The transaction is aborted" only says that another statement failed before.
    throw (error as { code?: unknown }).code === '25P02' ? (failure ?? error) : error
  }
}
