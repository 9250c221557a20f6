/**
 * A PostgreSQL server as a database: connections and their settings, silence, and cancelling statements.
 * Knows no schema.
 */
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Statement } from '../../sql.ts'
import type { Ask } from '../ask.ts'
import { distributionOf, hasCitus } from '../distribution.ts'
import { type Driver, withProgress } from '../driver.ts'
import type { LimitedOptions } from '../open.ts'
import { StartupError } from '../startup-error.ts'
import { keepStatistics } from '../statistics.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { Connection } from './connection.ts'
import { withExplicitBatches } from './explicit-batch.ts'
import { ConnectionPool, type Life, type PoolTransaction, runTransaction } from './pool.ts'
import type { Progress } from './response-queue.ts'
import { type ServerAddress, serverAddress } from './server-address.ts'
import { warnings } from './warnings.ts'

/** Besides the connections for long reads: quick statements and transactions don't wait for those. */
const otherConnections = 4
/** The number of accounts that the background jobs process at a time: none waits behind another's index. */
const untimedAtOnce = 2
/** The number of exports at a time (work/exports/permits.ts). */
const snapshotsAtOnce = 4
/** Interval at which a cancel request is repeated. */
const cancelAgainMs = 100

/** Opens the server of this address. Throws a StartupError if it can't be opened. */
export async function server(options: LimitedOptions, url: string): Promise<Driver> {
  const { log } = options
  const opened = serverAt(options, serverAddress(url))
  const { sql, place } = opened
  const isDistributed = await requireServer(sql.query, place, log).catch(async error => {
    await sql.end()
    throw error
  })
  const statistics = keepStatistics(sql, log)
  return {
    ...{ ...opened, isDistributed, sql: isDistributed ? withExplicitBatches(sql) : sql },
    async close() {
      void statistics.stop()
      await opened.close()
    },
  }
}

/** A server; `place`: how messages name it. */
export type Server = Omit<Driver, 'read'> & {
  readonly sql: ConnectionPool
  readonly place: string
  /** `isCurrent`: a statement without which the read throws NotCurrent, unless it returns a row (D172) */
  read<R>(statement: Parameters<Ask>, ended: AbortSignal, isCurrent?: Statement): Promise<R>
}

/** A replica does not have yet what a read wants of it. */
export class NotCurrent extends Error {
  override name = 'NotCurrent'
}

/** The server of an address, which nothing was asked yet. */
export function serverAt(options: LimitedOptions, address: ServerAddress): Server {
  const {
    poolSize = otherConnections + 2 * availableParallelism(),
    statementTimeoutMs,
    silenceMs,
    log,
  } = options
  const open = opener(address, log)
  const sql = new ConnectionPool({
    open: (life, delayMs) => open(life, { ...limitsOf(options), delayMs }),
    ...{ size: poolSize, isPipelined: !options.pooler },
  })
  const readPermits = Math.max(1, poolSize - otherConnections)
  const prober = new Prober(open, Math.max(1000, silenceMs))
  const breaker = new CircuitBreaker({
    probe: isLost => prober.ask(isLost),
    silenceMs,
    // The server cancels statements that take too long; one that it does not answer even then is lost with
    // its connection.
    limitMs: statementTimeoutMs + 2000,
    onLate: () => sql.endSilent(statementTimeoutMs + 1000),
  })
  return {
    ...{ engine: 'postgres', sql, isDistributed: false, place: address.place },
    // Each permit for reads, and each snapshot, may have a second connection for its cancel request.
    filesMax: poolSize + readPermits + untimedAtOnce + 2 * snapshotsAtOnce + 1,
    isAvailable: () => true,
    hasDiskSpace: () => true,
    async queryWithoutTimeLimit(...statement) {
      const connection = open(unwatched, untimed(options))
      return connection.ask<never>(...statement).finally(() => connection.close())
    },
    snapshot: (act, ended) => atOneSnapshot(open(unwatched, untimed(options)), act, ended),
    guard: ask => breaker.guard(() => ask()),
    hasOneConnection: false,
    readPermits,
    permitsOfOne: Math.max(1, readPermits >> 1),
    transactionPermits: Math.max(1, Math.min(2, poolSize >> 1)),
    isWaitedFor: () => false,
    idleMs: () => Number.POSITIVE_INFINITY,
    read: (statement, ended, isCurrent) =>
      breaker.guard(() =>
        sql.withConnection(async connection => {
          if (isCurrent) await requireCurrent(connection.ask, isCurrent, options.pooler?.prepares !== false)
          return cancellable(connection, statement, ended)
        }),
      ),
    async close() {
      breaker.stop()
      prober.end('The database is closed')
    },
  }
}

/** `ask` goes to the connection, and so to the server, of the read. */
async function requireCurrent(ask: Ask, { text, values }: Statement, prepare: boolean): Promise<void> {
  const [row] = await ask(text, values, { prepare })
  if (!row) throw new NotCurrent('The replica is behind')
}

type Opening = {
  readonly parameters?: object
  readonly preamble?: Parameters<Ask>
  readonly connectWithinMs?: number
  readonly delayMs?: number
}
type Open = (life: Life, opening?: Opening) => Connection

/** A function that opens a connection to this server, after a delay (default: none). */
function opener(address: ServerAddress, log: (line: string) => void): Open {
  const onNotice = warnings(log)
  return (life, { parameters, ...opening } = {}) => {
    const settings = { ...readable, ...parameters, ...address.settings }
    return new Connection({
      ...{ ...address, ...life, settings, isRemote: true, delayMs: 0, ...opening },
      onNotice,
      log,
    })
  }
}

/**
 * The server's time limit of a statement. Behind a pooler each transaction sets it for itself: the next one
 * on the connection may be another client's.
 */
function limitsOf({ pooler = null, statementTimeoutMs }: LimitedOptions): Opening {
  const parameters = {
    statement_timeout: `${statementTimeoutMs}`,
    lock_timeout: `${Math.ceil(statementTimeoutMs / 2)}`,
    // Compiling a statement takes longer than any of these statements should.
    jit: 'off',
  }
  if (!pooler) return { parameters }
  const settings = Object.keys(parameters).map((name, index) => `set_config('${name}', $${index + 1}, true)`)
  return {
    preamble: [`SELECT ${settings.join()}`, Object.values(parameters), { prepare: pooler.prepares }],
  }
}

/** Probes whether the server answers, over a connection of its own. */
class Prober {
  readonly #open: Open
  readonly #connectWithinMs: number
  #connection: Connection | undefined

  constructor(open: Open, connectWithinMs: number) {
    this.#open = open
    this.#connectWithinMs = connectWithinMs
  }

  /** `isLost`: the previous probe is never answered. */
  ask(isLost: boolean): Promise<unknown> {
    if (isLost) this.end('The database does not answer')
    const onOver = () => {
      this.#connection = undefined
    }
    const connectWithinMs = this.#connectWithinMs
    this.#connection ??= this.#open({ ...unwatched, onOver }, { connectWithinMs })
    return this.#connection.ask('SELECT 1', [])
  }

  end(reason: string): void {
    this.#connection?.end(new DatabaseUnavailable(reason))
  }
}

/** Runs a statement over a connection in exclusive use; aborting `ended` cancels it. */
async function cancellable<R>(
  connection: Connection,
  statement: Parameters<Ask>,
  ended: AbortSignal,
): Promise<R> {
  // Earlier statements of others must not be cancelled.
  const canceller = cancellerOf(connection, ended, () => progress.runsSince !== null)
  const progress: Progress = { hasBegun: false, runsSince: null, onBegin: canceller.cancel }
  try {
    return await connection.ask<R>(...withProgress(statement, progress))
  } finally {
    await canceller.stop()
  }
}

/** Runs `act` over a connection of its own, which is closed afterwards; aborting `ended` cancels it. */
async function atOneSnapshot<T>(
  connection: Connection,
  act: (tx: PoolTransaction) => Promise<T>,
  ended: AbortSignal,
): Promise<T> {
  const canceller = cancellerOf(connection, ended)
  try {
    return await runTransaction(connection, act, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')
  } finally {
    await canceller.stop()
    await connection.close()
  }
}

/**
 * Cancels the session's statement when `ended` is aborted, if the statement is running then; else `cancel`
 * does when it begins. `stop` resolves when no cancel request is under way.
 */
function cancellerOf(connection: Connection, ended: AbortSignal, isRunning: () => boolean = () => true) {
  const over = new AbortController()
  let cancelling: Promise<void> | undefined
  const cancel = () => {
    if (ended.aborted && isRunning()) cancelling ??= cancelUntil(over.signal, connection)
  }
  ended.addEventListener('abort', cancel)
  return {
    cancel,
    async stop() {
      ended.removeEventListener('abort', cancel)
      over.abort()
      await cancelling
    },
  }
}

/**
 * Cancels the session's running statement. A server that has not read the statement yet ignores the request,
 * so it is repeated until the statement is over.
 */
async function cancelUntil(over: AbortSignal, connection: Connection): Promise<void> {
  while (!over.aborted) {
    await connection.cancel()
    await delay(cancelAgainMs, undefined, { signal: over }).catch(() => {})
  }
}

/** Values read alike everywhere, and administrators see whose connections they are. */
const readable = { application_name: 'dealwright', TimeZone: 'UTC', DateStyle: 'ISO, MDY' }
/** For statements without a time limit, whatever the role has. A pooler passes on no setting. */
const untimed = ({ pooler }: LimitedOptions): Opening =>
  pooler ? {} : { parameters: { statement_timeout: '0', lock_timeout: '0', jit: 'off' } }
const unwatched: Life = { onAnswer() {}, onOver() {} }

const oldestServer = 15

/**
 * Throws a StartupError with the problem of the server at `where`. Logs mere disadvantages. True if the
 * tables are distributed over nodes (D173).
 */
export async function requireServer(ask: Ask, where: string, log: (line: string) => void): Promise<boolean> {
  let server: { version: string; encoding: string; letters: string; read_only: string; has_citus: string }
  try {
    const text = `SELECT current_setting('server_version') AS version,
      current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') AS read_only,
      ${hasCitus} AS has_citus,
      (SELECT datctype FROM pg_database WHERE datname = current_database()) AS letters`
    const [row] = await ask<[typeof server]>(text, [])
    server = row
  } catch (error) {
    const { message } = error as Error
    // PgBouncer's sentence.
    const hint = /unsupported startup parameter/.test(message)
      ? '; it is behind a pooler: set DATABASE_POOLER=1'
      : ''
    throw new StartupError(`${where}, cannot be used: ${message}${hint}`, { cause: error })
  }
  if (Number.parseInt(server.version, 10) < oldestServer) {
    throw new StartupError(`${where}, is version ${server.version}; ${oldestServer} is the oldest that works`)
  }
  if (server.read_only !== 'off')
    throw new StartupError(
      `${where}, takes no writes: it is a replica, or default_transaction_read_only is on`,
    )
  if (server.encoding !== 'UTF8')
    throw new StartupError(`${where}, has the encoding ${server.encoding}; it must be UTF8`)
  // LC_CTYPE: by it pg_trgm tells letters from other characters.
  if (server.letters === 'C' || server.letters === 'POSIX')
    log(
      `${where}, has a locale that knows the letters a to z only, so "like" has no index for words in others; use C.UTF-8.`,
    )
  return server.has_citus === 'true' && (await distributionOf(ask, where)).distributed.length > 0
}
