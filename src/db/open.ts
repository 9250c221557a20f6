/**
 * The database of either engine: a PostgreSQL server, or PostgreSQL embedded in this process. The only file
 * that knows which. Owns the connections' settings and the errors of a lost connection. Does not know the
 * schema or any statement of it.
 */
import type { StatementsToWrite } from '../mergeable-write.ts'
import type { Statement } from '../sql.ts'
import { FairShare } from '../waiting/fair-share.ts'
import { SharedExclusiveLock } from '../waiting/shared-exclusive-lock.ts'
import { within } from '../waiting/timeout.ts'
import type { Ask } from './ask.ts'
import type { Driver } from './driver.ts'
import { embedded } from './embedded/embedded.ts'
import { GroupCommit } from './group-commit.ts'
import { operationalErrorLog } from './operational-errors.ts'
import type { Pool, PoolTransaction } from './postgres/pool.ts'
import { statementMemory } from './postgres/prepared.ts'
import { openReplica, type Replica } from './postgres/replica.ts'
import { server } from './postgres/server.ts'
import type { Row } from './postgres/wire.ts'
import { availabilityGuard, readers, singleStatements } from './queries.ts'
import { StartupError } from './startup-error.ts'
import { type Outcome, type Queries, transact } from './transaction.ts'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

export type { Pool, PoolTransaction, Row }

/** Takes one line for the operator: an event of the database that no request asked for. */
export type Log = (line: string) => void

/** True if the pooler keeps prepared statements. */
export type Pooler = { readonly prepares: boolean }

export type DatabaseOptions = {
  /** postgres://… of a server; absent or null = embedded */
  readonly url?: string | null | undefined
  /** server: postgres://… of a streaming replica of it (D172); default: none */
  readonly readUrl?: string | null | undefined
  /** embedded: path of the data directory; absent = in memory */
  readonly dataDir?: string | undefined
  /** embedded: a file with the initial cluster; absent: the empty one of ready-cluster.ts */
  readonly template?: string | undefined
  readonly log: Log
  /** server: the pooler in front of it, which gives a connection to each transaction (D166); default: none */
  readonly pooler?: Pooler | null | undefined
  /** server: number of connections; a few a core, since statements are pipelined, but for a pooler */
  readonly poolSize?: number
  /** time limit of a request's statement, default 10 s; on a server half of it may be waiting for a lock */
  readonly statementTimeoutMs?: number
  /** embedded: longest wait of a request's statement for those before it, default 3 s */
  readonly waitMs?: number
  /** how long a read may keep others waiting, default 2 s */
  readonly yieldsAfterMs?: number
  /** server: longest silence before requests are refused with "try again", default 0.9 s */
  readonly silenceMs?: number
  /** true to print every write as a transaction (D164), default false */
  readonly hasOnlyTransactions?: boolean
}

/** The requesting account; `signal` is aborted when the caller has left. */
export type TurnOptions = { readonly account: string; readonly signal?: AbortSignal }
/**
 * `isCurrent`: a statement that returns a row where a database has all that the reader knows. With it, a
 * replica may answer the reads, after that statement on the same server (D172).
 */
export type ReadOptions = TurnOptions & { readonly isCurrent?: Statement }
/** `isJob`: no request waits for the transaction */
type TransactionOptions = TurnOptions & { readonly isJob?: true }

export type Database = {
  readonly engine: 'embedded' | 'postgres'
  /** true if a write of one record is a transaction of several statements, too (D164) */
  readonly hasOnlyTransactions: boolean
  /** true if the tables of accounts are distributed over several nodes (D173) */
  readonly isDistributed: boolean
  /** limit of its open files in this process, including connections to a server */
  readonly filesMax: number
  /**
   * The connections, for migrations, seeds and jobs; transactions by `sql.begin`. The embedded engine has one
   * connection: inside `sql.begin` use only its transaction, anything else waits for the end of the
   * transaction.
   */
  readonly sql: Pool
  /**
   * One statement with text parameters; casts are in the text ($1::bigint). Throws DatabaseUnavailable when
   * the database is unavailable, StatementTooLarge, and PostgresError (with SQLSTATE as `code`) for anything
   * it refuses. `replan` plans it anew each time, for a statement whose best plan depends on its parameters.
   */
  query(text: string, params?: readonly (string | null)[], replan?: boolean): Promise<readonly Row[]>
  /**
   * A query whose rows are arrays of values, as the bytes that PostgreSQL sent: for text that is passed on
   * undecoded. Decoding a page of records and encoding it again takes a third of the time of its request.
   * Anything that may take longer than the look-up of a record goes through `inTurn`: on a server these
   * statements share connections.
   */
  queryBytes(
    text: string,
    params: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly (readonly (Buffer | null)[])[]>
  /**
   * The two queries for reads that may take long; they run in the account's turn (D102). Besides, they throw
   * WaitEnded, and PostgresError 57014 for one that kept others waiting.
   */
  inTurn(options: ReadOptions): Pick<Database, 'isDistributed' | 'query' | 'queryBytes'>
  /** true if a replica may answer reads (D172) */
  readonly hasReplica: boolean
  /**
   * One statement without a time limit and outside any transaction, such as CREATE INDEX CONCURRENTLY; on a
   * server over a connection of its own, so that nothing waits behind it: two at a time.
   */
  queryWithoutTimeLimit(text: string, params?: readonly (string | null)[]): Promise<readonly Row[]>
  /**
   * Runs `act` in a transaction of one snapshot, over a connection of its own, without a time limit; aborting
   * `ended` cancels it. Null where there is only one connection (D81).
   */
  readonly snapshot: Driver['snapshot']
  /**
   * Runs `act` while writes of the account wait, those of requests for some seconds at most: for long reads
   * without a snapshot. Writes of other processes don't wait.
   */
  whileUnwritten<T>(account: string, act: () => Promise<T>): Promise<T>
  /**
   * Statements of one transaction that write to an account; returns the rows of the last. If one waits for a
   * lock, those after it see what the lock's holder committed. Group commit: concurrent ones share a commit,
   * on a server those of one account, on the embedded engine all; and mergeable ones share statements.
   */
  write(account: string, content: StatementsToWrite): Promise<readonly Row[]>
  /**
   * The same for background work: no request waits for it. On the embedded engine it waits for its turn
   * without a limit, and cancels no read.
   */
  readonly background: Pick<Database, 'hasOnlyTransactions' | 'isDistributed' | 'query' | 'write'>
  /**
   * Runs `act` in one transaction, in which it reads and writes by `tx` only, one after the other; on the
   * embedded engine everything else waits meanwhile. A refused write rolls back to a savepoint. The result of
   * `act` decides between commit and rollback. Takes the account's turn, as long reads do; an account that
   * kept others waiting cools down for as long, after a job's transaction only until they are done.
   */
  transaction<T>(options: TransactionOptions, act: (tx: Queries) => Promise<Outcome<T>>): Promise<T>
  /** True if the database answers within two seconds. */
  ready(): Promise<boolean>
  /** Size of the database on its disk. */
  bytes(): Promise<number>
  /** Waits up to five seconds for statements under way. */
  close(): Promise<void>
}

/** The options with the defaults filled in. */
export type LimitedOptions = DatabaseOptions & typeof defaults

const defaults = {
  ...{ statementTimeoutMs: 10_000, waitMs: 3000, yieldsAfterMs: 2000, silenceMs: 900 },
  hasOnlyTransactions: false,
}
const readyWithinMs = 2000
/** Longest wait of a write while all records of its account are read. */
const pausedMs = 10_000

/** Opens the database. Throws a StartupError if it can't be opened. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const limited = { ...defaults, ...options }
  if (options.url === undefined || options.url === null)
    return database(await embedded(limited), limited, null)
  const primary = await server(limited, options.url)
  if (!options.readUrl) return database(primary, limited, null)
  try {
    if (primary.isDistributed)
      throw new StartupError(
        'DATABASE_READ_URL is for a database on one server, and this one is distributed over several: leave it out.',
      )
    const share = (driver: Driver) => shareOf('replica', driver, limited, driver.readPermits)
    return database(primary, limited, await openReplica(limited, options.readUrl, primary.sql.query, share))
  } catch (error) {
    await primary.sql.end()
    await primary.close()
    throw error
  }
}

function database(driver: Driver, options: LimitedOptions, replica: Replica | null): Database {
  const { engine, sql, guard, isDistributed } = driver
  const hasOnlyTransactions = options.hasOnlyTransactions || isDistributed
  const filesMax = driver.filesMax + (replica?.filesMax ?? 0)
  const shouldPrepare = options.pooler?.prepares === false ? () => false : statementMemory()
  const logOperationalError = operationalErrorLog(options.log)
  let isClosed = false

  const isRefused = (error: unknown) => !(asUnavailable(error) instanceof DatabaseUnavailable)
  const commits = new GroupCommit({ sql, isShared: driver.hasOneConnection, shouldPrepare, isRefused })

  const whileAvailable = availabilityGuard(driver, () => isClosed, logOperationalError)

  const share = shareOf('read', driver, options, driver.readPermits)
  const transactions = shareOfTransactions(driver, options)
  const writeLock = new SharedExclusiveLock<string>('write', pausedMs, isBeingRead)
  const dependencies = { driver, commits, writeLock, whileAvailable, shouldPrepare }
  const requests = singleStatements(dependencies, false)

  return {
    ...{ engine, filesMax, sql, hasOnlyTransactions, isDistributed, hasReplica: replica !== null },
    snapshot: driver.snapshot,
    whileUnwritten: (account, act) => writeLock.exclusive(account, act),
    ...requests,
    inTurn({ isCurrent, ...turn }) {
      const read = <R>(asked: Parameters<Ask>) =>
        whileAvailable(() => share.run(turn.account, turn.signal, ended => driver.read<R>(asked, ended)))
      const replicaFirst = replica && isCurrent ? replica.before({ ...turn, isCurrent }, read) : read
      return { isDistributed, ...readers(shouldPrepare, replicaFirst) }
    },
    queryWithoutTimeLimit: (text, params = []) =>
      whileAvailable(() => driver.queryWithoutTimeLimit(text, params), true),
    background: { hasOnlyTransactions, isDistributed, ...singleStatements(dependencies, true) },
    transaction({ account, signal, isJob = false }, act) {
      const inTurn = () =>
        transactions.run(account, signal, (_, coolDown) => {
          const considerate = async (tx: Queries) => {
            try {
              return await act(tx)
            } finally {
              if (driver.isWaitedFor()) coolDown(isJob)
            }
          }
          return transact({ sql, guard, shouldPrepare, hasOnlyTransactions, isDistributed }, considerate)
        })
      return writeLock.shared(account, () => whileAvailable(inTurn, true))
    },
    ready: async () => !isClosed && driver.isAvailable() && answersSoon(requests.query('SELECT 1')),
    bytes: () => sizeOf(requests),
    async close() {
      if (isClosed) return
      isClosed = true
      share.stop()
      transactions.stop()
      await replica?.close()
      await sql.end()
      await driver.close()
    },
  }
}

function shareOfTransactions({ idleMs, transactionPermits }: Driver, options: LimitedOptions): FairShare {
  const ofOne = { permitsOfOne: 1, isWaitedFor: () => false, idleMs }
  return shareOf('transaction', ofOne, options, transactionPermits)
}

function isBeingRead(): DatabaseUnavailable {
  return new DatabaseUnavailable('All records of the account are being read')
}

/** A scheduler with this number of permits. */
function shareOf(
  name: string,
  { permitsOfOne, isWaitedFor, idleMs }: Pick<Driver, 'permitsOfOne' | 'isWaitedFor' | 'idleMs'>,
  { statementTimeoutMs: waitMs, yieldsAfterMs: sliceMs }: LimitedOptions,
  permits: number,
): FairShare {
  return new FairShare({ name, permits, permitsOfOne, isWaitedFor, idleMs, waitMs, sliceMs })
}

async function sizeOf({ query }: Pick<Database, 'query'>): Promise<number> {
  const [row] = await query('SELECT pg_database_size(current_database())::text AS bytes')
  return Number(row!.bytes)
}

function answersSoon(asked: Promise<unknown>): Promise<boolean> {
  const isAnswered = asked.then(Boolean, () => false)
  return within(isAnswered, readyWithinMs, () => false)
}
