/**
 * The database, whichever it is: a PostgreSQL server, or PostgreSQL embedded in this process. The only file that knows which.
 * Owns the client's settings and what a lost connection looks like to the rest. Does not know the schema or any statement of it.
 */
import { availableParallelism } from 'node:os'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { engineFilesMax } from './embedded/durable-files.ts'
import { Engine } from './embedded/engine.ts'
import { maintain } from './embedded/maintenance.ts'
import { type Execute, groupCommit } from './group-commit.ts'
import { repairPipelining } from './pipeline.ts'
import { statementMemory } from './prepared.ts'
import { requireServer } from './require-server.ts'
import { watchStall } from './stall.ts'
import { StartupError } from './startup-error.ts'
import { repairTransactions, settleLoss } from './transaction.ts'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

/** Takes one line for the operator: what happened to the database that nobody asked about. */
export type Log = (line: string) => void

export type DatabaseOptions = {
  /** postgres://… of a server; absent = embedded */
  readonly url?: string | undefined
  /** embedded: where it lives; absent = in memory */
  readonly dataDir?: string | undefined
  /** embedded in memory: a file that keeps a freshly initialised cluster from one start to the next, which saves seconds (tests) */
  readonly template?: string | undefined
  readonly log: Log
  /** false for a pooler that cannot do prepared statements; then no settings are sent at the start of a connection either, which old ones refuse */
  readonly prepare?: boolean
  /** server: connections; a few a core, since statements share a connection without waiting for each other's answers */
  readonly poolSize?: number
  /**
   * How long a statement may run, 10 s unless given, half of it waiting for a lock. A server ends it; the embedded engine is reopened after six
   * times this silence.
   */
  readonly statementTimeoutMs?: number
}

/** A value is the text PostgreSQL prints for it, or null: numbers, booleans (t, f), dates, JSON alike. */
export type Row = Record<string, string | null>

/** What `sql.begin` gives, see Database. */
export type Transaction = TransactionSql

export type Database = {
  readonly engine: 'embedded' | 'postgres'
  /** how many files it may hold open in this process, connections to a server among them */
  readonly filesMax: number
  /**
   * postgres.js, for migrations, seeds and jobs; transactions by `sql.begin`. Its rows are text too (see Row). Embedded there is one
   * connection: inside `sql.begin` use only the transaction's own `sql`, anything else waits for the end of the transaction.
   */
  readonly sql: Sql
  /**
   * One statement with text parameters; casts are in the text ($1::bigint). Throws DatabaseUnavailable when the database cannot be
   * asked now, and PostgreSQL's own error (postgres.PostgresError, with SQLSTATE `code`) for anything it refuses.
   * `replan` has it planned anew each time, for a statement whose best plan depends on its parameters.
   */
  query(text: string, params?: readonly (string | null)[], replan?: boolean): Promise<readonly Row[]>
  /**
   * The same, each row's values in their order as the bytes that PostgreSQL sent: for text that is passed on unread. Decoding a page of
   * records and encoding it again takes a third of the time of its request.
   */
  queryBytes(text: string, params: readonly (string | null)[], replan?: boolean): Promise<readonly (readonly (Buffer | null)[])[]>
  /**
   * One statement without a time limit and outside any transaction, such as making an index while others write; on a
   * server over a connection of its own, so that nothing waits behind it: two at a time.
   */
  unhurried(text: string, params?: readonly (string | null)[]): Promise<readonly Row[]>
  /**
   * A query that writes to an account and is atomic by itself; those of one account that come together share a commit. `first` is a
   * statement on the account ($1) that goes before it in the same transaction: what it waits for, the write sees.
   */
  write(account: string, text: string, params: readonly (string | null)[], first?: string): Promise<readonly Row[]>
  /** Whether it answers now; false within two seconds if it does not. */
  ready(): Promise<boolean>
  /** Waits up to five seconds for statements under way. */
  close(): Promise<void>
}

const statementTimeoutDefaultMs = 10_000
/** As many as the upkeep looks after accounts at a time: none waits behind another's index. */
const unhurriedAtOnce = 2
/**
 * How long the database may say nothing at all before requests are refused with "try again". The embedded engine does one thing at a time, so a
 * statement that takes two seconds is no sign of trouble there.
 */
const [serverPatienceMs, embeddedPatienceMs] = [900, 3000]

/** Opens the database. Throws a StartupError when that cannot be. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url === undefined ? openEmbedded(options) : openServer(options, options.url)
}

async function openEmbedded(options: DatabaseOptions): Promise<Database> {
  const { dataDir, template, log, statementTimeoutMs = statementTimeoutDefaultMs } = options
  const engine = await Engine.open({
    ...(dataDir !== undefined && { dataDir }),
    ...(template !== undefined && { template }),
    hangLimitMs: statementTimeoutMs * 6,
    log,
  })
  const sql = embeddedClient(engine)
  const upkeep = maintain(engine, sql, log)
  return database('embedded', sql, options, {
    filesMax: engineFilesMax,
    isAvailable: () => engine.available,
    unhurried: () => sql,
    prober: () => sql,
    async close() {
      upkeep.stop()
      await engine.close()
    },
  })
}

/** A client of the embedded engine: one connection, as it has one session, with many statements under way on it. */
export function embeddedClient(engine: Engine): Sql {
  const sql = postgres({
    ...settings,
    // Everything said outright: the client would take what is left out from the environment, which is about servers.
    host: 'embedded',
    port: 5432,
    user: 'postgres',
    database: 'postgres',
    password: '',
    ssl: false,
    max: 1,
    max_pipeline: 100,
    idle_timeout: 0,
    max_lifetime: null,
    keep_alive: null,
    backoff: () => 0,
    socket: () => engine.connect(),
  } as object)
  repairPipelining(sql)
  repairTransactions(sql, () => engine.available)
  return sql
}

async function openServer(options: DatabaseOptions, url: string): Promise<Database> {
  const {
    prepare = true,
    poolSize = Math.max(4, 2 * availableParallelism()),
    statementTimeoutMs = statementTimeoutDefaultMs,
  } = options
  let sql: Sql
  try {
    sql = postgres(url, {
      ...settings,
      max: poolSize,
      connect_timeout: 5,
      // Starts at once and stays short: a server that is back should be noticed, and each of the pool's connections waits by itself.
      backoff: attempts => Math.min(0.02 * 2 ** attempts, 0.5),
      connection: {
        application_name: 'dealwright',
        TimeZone: 'UTC',
        DateStyle: 'ISO, MDY',
        // Compiling a statement takes longer than any of these statements should.
        ...(prepare && { statement_timeout: statementTimeoutMs, lock_timeout: Math.ceil(statementTimeoutMs / 2), jit: 'off' }),
      },
    })
  } catch (error) {
    throw new StartupError('DATABASE_URL is not an address of the form postgres://user:password@host:port/database', {
      cause: error,
    })
  }
  repairPipelining(sql)
  repairTransactions(sql, () => true)
  try {
    await requireServer(sql, options.log)
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  let alone: Sql | undefined
  let prober: Sql | undefined
  return database('postgres', sql, options, {
    filesMax: poolSize + unhurriedAtOnce + 1,
    isAvailable: () => true,
    unhurried: () => {
      alone ??= postgres(url, { ...settings, max: unhurriedAtOnce, idle_timeout: 10, connect_timeout: 5 })
      return alone
    },
    prober: isLost => {
      if (isLost) void prober?.end({ timeout: 0 })
      if (isLost || !prober)
        prober = postgres(url, { ...settings, max: 1, idle_timeout: 0, connect_timeout: 1, backoff: () => 0.1 })
      return prober
    },
    close: async () => void (await Promise.all([alone?.end({ timeout: 0 }), prober?.end({ timeout: 0 })])),
  })
}

type Backing = Pick<Database, 'filesMax'> & {
  isAvailable(): boolean
  unhurried(): Sql
  /** what asks whether the database answers at all, which nothing of this process should hold up; `isLost` as in stall.ts */
  prober(isLost: boolean): Sql
  close(): Promise<void>
}

function database(engine: Database['engine'], sql: Sql, options: DatabaseOptions, backing: Backing): Database {
  const shouldPrepare = options.prepare === false ? () => false : statementMemory()
  let isClosed = false

  // Never the simple protocol, not even without parameters: it would carry out several statements in one text.
  const statement = (client: Parameters<Execute>[0], text: string, params: readonly (string | null)[], prepare: boolean) =>
    client.unsafe<Row[]>(text, params as (string | null)[], { prepare, simple: false } as object)
  const execute: Execute = (client, text, params, prepare = shouldPrepare(text)) =>
    statement(client, text, params, prepare).catch(settleLoss)
  const isRefused = (error: unknown) => !(asUnavailable(error) instanceof DatabaseUnavailable)
  const writeTogether = groupCommit(sql, execute, isRefused)

  const stall = watchStall({
    // An engine that is being reopened must not be asked: what is written to it then is never answered.
    probe: async isLost => {
      if (!backing.isAvailable()) throw new DatabaseUnavailable('The database is not available')
      return execute(backing.prober(isLost), 'SELECT 1', [], false)
    },
    patienceMs: engine === 'embedded' ? embeddedPatienceMs : serverPatienceMs,
    isSerial: engine === 'embedded',
    // The engine has its watchdog; a server ends what takes too long, and what it does not answer even then is lost with its connection.
    limitMs: engine === 'embedded' ? Number.POSITIVE_INFINITY : (options.statementTimeoutMs ?? statementTimeoutDefaultMs) + 2000,
  })

  async function whileAvailable<T>(ask: () => Promise<T>): Promise<T> {
    if (isClosed || !backing.isAvailable()) throw new DatabaseUnavailable('The database is not available')
    try {
      return await ask()
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  const query: Database['query'] = (text, params = [], replan = false) =>
    whileAvailable(() => stall.guard(() => execute(sql, text, params, replan ? false : undefined)))

  return {
    engine,
    filesMax: backing.filesMax,
    sql,
    query,
    queryBytes: (text, params, replan = false) =>
      whileAvailable(() =>
        stall.guard(() =>
          statement(sql, text, params, !replan && shouldPrepare(text))
            .raw()
            .catch(settleLoss),
        ),
      ),
    unhurried: (text, params = []) => whileAvailable(() => execute(backing.unhurried(), text, params, false)),
    write: (account, text, params, first) => whileAvailable(() => stall.guard(() => writeTogether(account, text, params, first))),
    async ready() {
      if (isClosed || !backing.isAvailable()) return false
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<false>(resolve => {
        timer = setTimeout(resolve, 2000, false)
      })
      const answered = query('SELECT 1').then(
        () => true,
        () => false,
      )
      return Promise.race([answered, late]).finally(() => clearTimeout(timer))
    },
    async close() {
      if (isClosed) return
      isClosed = true
      stall.stop()
      await sql.end({ timeout: 5 })
      await backing.close()
    },
  }
}

const asText = {
  serialize: (value: unknown) => (value instanceof Date ? value.toISOString() : String(value)),
  parse: (text: string) => text,
}

/** Values stay text both ways: PostgreSQL alone decides what they mean, and numbers keep every digit. */
const settings = {
  fetch_types: false,
  onnotice: () => {},
  types: {
    number: { ...asText, to: 0, from: [20, 21, 23, 26, 700, 701, 1700] },
    json: { ...asText, to: 114, from: [114, 3802] },
    boolean: { ...asText, to: 16, from: [16] },
    date: { ...asText, to: 1184, from: [1082, 1114, 1184] },
    bytea: { ...asText, to: 17, from: [17] },
  },
}
