/**
 * The database, whichever it is: a PostgreSQL server, or PostgreSQL embedded in this process. The only file that knows which.
 * Owns the connections' settings and what a lost one looks like to the rest. Does not know the schema or any statement of it.
 */
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { engineFilesMax } from './embedded/durable-files.ts'
import { Engine } from './embedded/engine.ts'
import { maintain } from './embedded/maintenance.ts'
import { groupCommit } from './group-commit.ts'
import { type Life, openPool, type Pool, type Transaction } from './pool.ts'
import { statementMemory } from './prepared.ts'
import { requireServer } from './require-server.ts'
import { serverAddress } from './server-address.ts'
import { type Ask, openSession, type Session } from './session.ts'
import { watchStall } from './stall.ts'
import { watchTrouble } from './trouble.ts'
import { asUnavailable, DatabaseUnavailable, DiskFull } from './unavailable.ts'
import type { Row } from './wire.ts'

export type { Pool, Row, Transaction }

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

export type Database = {
  readonly engine: 'embedded' | 'postgres'
  /** how many files it may hold open in this process, connections to a server among them */
  readonly filesMax: number
  /**
   * The connections, for migrations, seeds and jobs; transactions by `sql.begin`. Embedded there is one: inside `sql.begin` use only what
   * it gives, anything else waits for the end of the transaction.
   */
  readonly sql: Pool
  /**
   * One statement with text parameters; casts are in the text ($1::bigint). Throws DatabaseUnavailable when the database cannot be
   * asked now, StatementTooLarge, and PostgresError (with SQLSTATE as `code`) for anything it refuses.
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
  const sql = embeddedPool(engine, log)
  const upkeep = maintain(engine, sql, log)
  return database('embedded', sql, options, {
    filesMax: engineFilesMax,
    isAvailable: () => engine.available,
    hasRoom: engine.hasRoom,
    unhurried: sql.unsafe,
    probe: () => sql.unsafe('SELECT 1', []),
    async close() {
      upkeep.stop()
      await engine.close()
    },
  })
}

/** The embedded engine's one session, with many statements under way on it. */
export function embeddedPool(engine: Engine, log: Log): Pool {
  const session = { user: 'postgres', password: '', settings: { database: 'postgres' }, connectWithinMs: null, log }
  return openPool({ open: life => openSession({ ...session, ...life, connect: () => engine.connect() }), size: 1 })
}

async function openServer(options: DatabaseOptions, url: string): Promise<Database> {
  const {
    prepare = true,
    poolSize = Math.max(4, 2 * availableParallelism()),
    statementTimeoutMs = statementTimeoutDefaultMs,
    log,
  } = options
  const address = serverAddress(url)
  const open = (life: Life, connectWithinMs: number, parameters: object = {}, delayMs = 0): Session => {
    const connect = async (signal: AbortSignal) => {
      if (delayMs > 0) await delay(delayMs, undefined, { signal })
      return address.connect(signal)
    }
    const settings = { ...readable, ...parameters, ...address.settings }
    return openSession({ ...address, ...life, settings, connect, connectWithinMs, log })
  }
  const limits = {
    statement_timeout: `${statementTimeoutMs}`,
    lock_timeout: `${Math.ceil(statementTimeoutMs / 2)}`,
    // Compiling a statement takes longer than any of these statements should.
    jit: 'off',
  }
  const sql = openPool({ open: (life, delayMs) => open(life, 5000, prepare ? limits : {}, delayMs), size: poolSize })
  try {
    await requireServer(sql.unsafe, address.place, log)
  } catch (error) {
    await sql.end()
    throw error
  }
  let prober: Session | undefined
  return database('postgres', sql, options, {
    filesMax: poolSize + unhurriedAtOnce + 1,
    isAvailable: () => true,
    hasRoom: () => true,
    async unhurried(...statement) {
      const session = open(unwatched, 5000)
      return session.ask<never>(...statement).finally(session.close)
    },
    probe(isLost) {
      if (isLost) prober?.end(new DatabaseUnavailable('The database does not answer'))
      const forget = () => {
        prober = undefined
      }
      prober ??= open({ ...unwatched, onOver: forget }, 1000)
      return prober.ask('SELECT 1', [])
    },
    close: async () => prober?.end(new DatabaseUnavailable('The database is closed')),
  })
}

/** So that values read alike everywhere, and people see whose connections they are. */
const readable = { application_name: 'dealwright', TimeZone: 'UTC', DateStyle: 'ISO, MDY' }
const unwatched: Life = { onAnswer() {}, onOver() {} }

type Backing = Pick<Database, 'filesMax'> & {
  isAvailable(): boolean
  /** whether the disk has room for what is written */
  hasRoom(): boolean
  readonly unhurried: Ask
  /** Asks whether the database answers at all, which nothing of this process should hold up; `isLost` as in stall.ts. */
  probe(isLost: boolean): Promise<unknown>
  close(): Promise<void>
}

function database(engine: Database['engine'], sql: Pool, options: DatabaseOptions, backing: Backing): Database {
  const shouldPrepare = options.prepare === false ? () => false : statementMemory()
  const sayTrouble = watchTrouble(options.log)
  let isClosed = false

  const isRefused = (error: unknown) => !(asUnavailable(error) instanceof DatabaseUnavailable)
  const writeTogether = groupCommit(sql, shouldPrepare, isRefused)

  const stall = watchStall({
    // An engine that is being reopened must not be asked: what is written to it then is never answered.
    probe: async isLost => {
      if (!backing.isAvailable()) throw new DatabaseUnavailable('The database is not available')
      return backing.probe(isLost)
    },
    patienceMs: engine === 'embedded' ? embeddedPatienceMs : serverPatienceMs,
    isSerial: engine === 'embedded',
    // The engine has its watchdog; a server ends what takes too long, and what it does not answer even then is lost with its connection.
    limitMs: engine === 'embedded' ? Number.POSITIVE_INFINITY : (options.statementTimeoutMs ?? statementTimeoutDefaultMs) + 2000,
  })

  async function whileAvailable<T>(ask: () => Promise<T>, writes = false): Promise<T> {
    if (isClosed || !backing.isAvailable()) throw new DatabaseUnavailable('The database is not available')
    if (writes && !backing.hasRoom()) throw new DiskFull()
    try {
      return await ask()
    } catch (error) {
      const meant = asUnavailable(error)
      if (!isClosed) sayTrouble(meant)
      throw meant
    }
  }

  const query: Database['query'] = (text, params = [], replan = false) =>
    whileAvailable(() => stall.guard(() => sql.unsafe(text, params, { prepare: !replan && shouldPrepare(text) })))

  return {
    engine,
    filesMax: backing.filesMax,
    sql,
    query,
    queryBytes: (text, params, replan = false) =>
      whileAvailable(() => stall.guard(() => sql.unsafe(text, params, { prepare: !replan && shouldPrepare(text), raw: true }))),
    unhurried: (text, params = []) => whileAvailable(() => backing.unhurried(text, params), true),
    write: (account, text, params, first) =>
      whileAvailable(() => stall.guard(() => writeTogether(account, text, params, first)), true),
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
      await sql.end()
      await backing.close()
    },
  }
}
