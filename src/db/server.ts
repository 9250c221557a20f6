/**
 * A PostgreSQL server as a database: connections and their settings, silence, and how a statement is ended.
 * Knows no schema.
 */
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Backing, withTurn } from './backing.ts'
import type { LimitedOptions } from './open.ts'
import { type Life, openPool } from './pool.ts'
import { requireServer } from './require-server.ts'
import { serverAddress } from './server-address.ts'
import { type Ask, openSession, type Session, type Turn } from './session.ts'
import { watchStall } from './stall.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/**
 * Besides the connections for reads that may take long: quick statements and transactions don't wait for
 * those.
 */
const otherConnections = 4
/** As many as the upkeep looks after accounts at a time: none waits behind another's index. */
const unhurriedAtOnce = 2
/** How long it may say nothing at all before requests are refused with "try again". */
const patienceMs = 900

/** Opens the one of this address. Throws a StartupError when that cannot be. */
export async function server(options: LimitedOptions, url: string): Promise<Backing> {
  const {
    prepare = true,
    poolSize = otherConnections + 2 * availableParallelism(),
    statementTimeoutMs,
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
  const sql = openPool({
    open: (life, delayMs) => open(life, 5000, prepare ? limits : {}, delayMs),
    size: poolSize,
  })
  try {
    await requireServer(sql.unsafe, address.place, log)
  } catch (error) {
    await sql.end()
    throw error
  }
  const placesForReads = Math.max(1, poolSize - otherConnections)
  let prober: Session | undefined
  const stall = watchStall({
    probe(isLost) {
      if (isLost) prober?.end(new DatabaseUnavailable('The database does not answer'))
      const forget = () => {
        prober = undefined
      }
      prober ??= open({ ...unwatched, onOver: forget }, 1000)
      return prober.ask('SELECT 1', [])
    },
    patienceMs,
    // A server ends what takes too long, and what it does not answer even then is lost with its connection.
    limitMs: statementTimeoutMs + 2000,
  })
  return {
    engine: 'postgres',
    sql,
    filesMax: poolSize + unhurriedAtOnce + 1,
    isAvailable: () => true,
    hasRoom: () => true,
    async unhurried(...statement) {
      const session = open(unwatched, 5000)
      return session.ask<never>(...statement).finally(session.close)
    },
    guard: ask => stall.guard(() => ask()),
    placesForReads,
    placesOfOne: Math.max(1, placesForReads >> 1),
    isWaitedFor: () => false,
    read: (statement, ended) =>
      stall.guard(() => sql.hold(session => cancellable(session, statement, ended))),
    async close() {
      stall.stop()
      prober?.end(new DatabaseUnavailable('The database is closed'))
    },
  }
}

/** Asks over a connection that nobody else is given meanwhile; `ended` has the server end it. */
async function cancellable<R>(session: Session, statement: Parameters<Ask>, ended: AbortSignal): Promise<R> {
  let cancelling: Promise<void> | undefined
  // Others' statements, which were there before, are not to be ended.
  const cancel = () => {
    if (ended.aborted && turn.runsSince !== null) cancelling ??= session.cancel()
  }
  const turn: Turn = { hasBegun: false, runsSince: null, onBegin: cancel }
  ended.addEventListener('abort', cancel)
  try {
    return await session.ask<R>(...withTurn(statement, turn))
  } finally {
    ended.removeEventListener('abort', cancel)
    await cancelling
  }
}

/** So that values read alike everywhere, and people see whose connections they are. */
const readable = { application_name: 'dealwright', TimeZone: 'UTC', DateStyle: 'ISO, MDY' }
const unwatched: Life = { onAnswer() {}, onOver() {} }
