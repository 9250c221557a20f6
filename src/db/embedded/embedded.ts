/** The embedded engine as a database: one session, its maintenance, and its time limits. Knows no schema. */
import { type Driver, withProgress } from '../driver.ts'
import type { LimitedOptions, Log } from '../open.ts'
import { Connection } from '../postgres/connection.ts'
import { ConnectionPool, type Pool } from '../postgres/pool.ts'
import { engineFilesMax } from './durable-files.ts'
import { Engine } from './engine.ts'
import { maintain } from './maintenance.ts'
import { watchTimeouts } from './timeouts.ts'

/** Long statements, such as creating an index, are normal. An engine that is silent for longer has failed. */
const hangLimitMs = 600_000
/** With fewer, the engine would be idle between two reads. With more, other statements would wait longer. */
const readPermits = 4
/** Opens the engine in `dataDir`, or in memory. Throws a StartupError when it can't be opened. */
export async function embedded(options: LimitedOptions): Promise<Driver> {
  const { dataDir, template, log, statementTimeoutMs, waitMs } = options
  const engine = await Engine.open({
    ...(dataDir !== undefined && { dataDir }),
    ...(template !== undefined && { template }),
    hangLimitMs,
    log,
  })
  const sql = embeddedPool(engine, log)
  const maintenance = maintain(engine, sql, log)
  const timeouts = watchTimeouts({ interrupt: () => engine.interrupt(), limitMs: statementTimeoutMs, waitMs })
  return {
    engine: 'embedded',
    sql,
    filesMax: engineFilesMax,
    isAvailable: () => engine.available,
    hasDiskSpace: engine.hasDiskSpace,
    queryWithoutTimeLimit: sql.query,
    guard: (ask, isBackground = false) => timeouts.guard(ask, { isBackground }),
    hasOneConnection: true,
    isDistributed: false,
    readPermits,
    permitsOfOne: 1,
    transactionPermits: 1,
    isWaitedFor: () => timeouts.isWaitedFor,
    idleMs: () => timeouts.idleMs,
    snapshot: null,
    read: (statement, ended) =>
      timeouts.guard(progress => sql.query(...withProgress(statement, progress)), { ended }),
    async close() {
      void maintenance.stop()
      timeouts.stop()
      await engine.close()
    },
  }
}

/** The pool of the embedded engine: one session, with many pipelined statements. */
export function embeddedPool(engine: Engine, log: Log): Pool {
  const options = {
    user: 'postgres',
    password: '',
    settings: { database: 'postgres' },
    channelBinding: 'disable',
    target: 'any',
    servers: [() => engine.connect()],
    delayMs: 0,
    isRemote: false,
    connectWithinMs: null,
    onNotice() {},
    log,
  } as const
  return new ConnectionPool({
    open: life => new Connection({ ...options, ...life }),
    size: 1,
    isPipelined: true,
  })
}
