/**
 * The embedded engine as a database: its one session, what keeps it in order, and whose turn it is. Knows no
 * schema.
 */
import { type Backing, withTurn } from '../backing.ts'
import type { LimitedOptions, Log } from '../open.ts'
import { openPool, type Pool } from '../pool.ts'
import { openSession } from '../session.ts'
import { engineFilesMax } from './durable-files.ts'
import { Engine } from './engine.ts'
import { maintain } from './maintenance.ts'
import { watchLine } from './patience.ts'

/** Jobs, such as making an index, take their time; an engine that says nothing for longer has failed. */
const hangLimitMs = 600_000
/** With fewer the engine would wait for this thread between two of them; with more the others wait longer. */
const placesForReads = 4
/** How long a request waits for those before it. */
const patienceMs = 3000

/** Opens it in `dataDir`, or in memory. Throws a StartupError when that cannot be. */
export async function embedded(options: LimitedOptions): Promise<Backing> {
  const { dataDir, template, log, statementTimeoutMs } = options
  const engine = await Engine.open({
    ...(dataDir !== undefined && { dataDir }),
    ...(template !== undefined && { template }),
    hangLimitMs,
    log,
  })
  const sql = embeddedPool(engine, log)
  const upkeep = maintain(engine, sql, log)
  const line = watchLine({
    interrupt: () => engine.interrupt(),
    limitMs: statementTimeoutMs,
    patienceMs,
  })
  return {
    engine: 'embedded',
    sql,
    filesMax: engineFilesMax,
    isAvailable: () => engine.available,
    hasRoom: engine.hasRoom,
    unhurried: sql.unsafe,
    guard: line.guard,
    placesForReads,
    placesOfOne: 1,
    isWaitedFor: () => line.isWaitedFor,
    read: (statement, ended) => line.guard(turn => sql.unsafe(...withTurn(statement, turn)), ended),
    async close() {
      upkeep.stop()
      line.stop()
      await engine.close()
    },
  }
}

/** The embedded engine's one session, with many statements under way on it. */
export function embeddedPool(engine: Engine, log: Log): Pool {
  const session = {
    user: 'postgres',
    password: '',
    settings: { database: 'postgres' },
    connectWithinMs: null,
    log,
  }
  return openPool({
    open: life => openSession({ ...session, ...life, connect: () => engine.connect() }),
    size: 1,
  })
}
