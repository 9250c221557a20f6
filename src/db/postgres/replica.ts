/**
 * A streaming replica of the server, for reads that may be a moment old (D172). It costs nobody an error:
 * what it can't answer, for any reason, the primary answers. Knows no schema.
 */
import { publish } from '../../diagnostics.ts'
import type { Statement } from '../../sql.ts'
import { WaitEnded } from '../../waiting/fair-semaphore.ts'
import type { FairShare } from '../../waiting/fair-share.ts'
import { type Interval, interval } from '../../waiting/interval.ts'
import type { Ask } from '../ask.ts'
import type { LimitedOptions, TurnOptions } from '../open.ts'
import { StartupError } from '../startup-error.ts'
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts'
import { NotCurrent, type Server, serverAt } from './server.ts'
import { serverAddress } from './server-address.ts'
import { namingSetting } from './server-url.ts'
import { PostgresError } from './wire.ts'

/** How often it is asked what it is. */
const lookEveryMs = 1000
/** How long it may lack what its readers know before the log says so. */
const behindMaxMs = 30_000

/** A replica and its primary have the same cluster and database. */
type Identity = { readonly cluster: string; readonly database: string; readonly is_replica: string }

type ReplicaOptions = {
  readonly server: Server
  readonly share: FairShare
  readonly primary: Identity
  readonly statementTimeoutMs: number
  readonly log: (line: string) => void
}

/** A turn; `isCurrent`: a statement that returns a row where the database is as far as the reader wants. */
export type ReplicaTurn = TurnOptions & { readonly isCurrent: Statement }
type Read = <R>(statement: Parameters<Ask>) => Promise<R>

export class Replica {
  readonly #options: ReplicaOptions
  readonly #looking: Interval
  #isUsable = false
  /** the last line of the log that still holds; null: it is used */
  #reported: 'unused' | 'behind' | null = null
  /** since when it has lacked what its readers know; null: it has that */
  #behindSince: number | null = null

  constructor(options: ReplicaOptions) {
    this.#options = options
    const unseen = (error: unknown) => this.#leave((error as Error).message)
    this.#looking = interval(lookEveryMs, async () => this.look(await this.ask()), unseen)
  }

  /** the limit of its open files */
  get filesMax(): number {
    return this.#options.server.filesMax
  }

  /** The reads that `onPrimary` carries out, with the replica before it. */
  before(turn: ReplicaTurn, onPrimary: Read): Read {
    return statement => this.#read(statement, turn, () => onPrimary(statement))
  }

  /** Throws what `onPrimary` throws, and WaitEnded and PostgresError 57014 as any read in turn. */
  async #read<R>(
    statement: Parameters<Ask>,
    { account, signal, isCurrent }: ReplicaTurn,
    onPrimary: () => Promise<R>,
  ): Promise<R> {
    const { server, share, statementTimeoutMs } = this.#options
    if (!this.#isUsable) return elsewhere('unused', onPrimary)
    let begun: { readonly ended: AbortSignal; readonly at: number } | undefined
    try {
      const rows = await share.run(account, signal, ended => {
        begun = { ended, at: performance.now() }
        return server.read<R>(statement, ended, isCurrent)
      })
      this.#noteCurrent()
      publish('replica-read', { outcome: 'answered' })
      return rows
    } catch (error) {
      // Its caller has left, or it had its time: the primary would take as long.
      const isOver = begun?.ended.aborted || performance.now() - (begun?.at ?? 0) >= statementTimeoutMs
      if (error instanceof WaitEnded || (isOver && isCancelled(error))) throw error
      if (error instanceof NotCurrent) {
        this.#noteBehind()
        return elsewhere('behind', onPrimary)
      }
      // Until the next look, which finds the reason.
      if (asUnavailable(error) instanceof DatabaseUnavailable) this.#isUsable = false
      return elsewhere('failed', onPrimary)
    }
  }

  /** Asks what it is. Throws DatabaseUnavailable if it does not answer. */
  ask(): Promise<Identity> {
    const { server } = this.#options
    return server.guard(() => identityOf(server.sql.query))
  }

  /** Takes it into use, or out of it, by what it is. */
  look(found: Identity): void {
    const { primary, server, log } = this.#options
    const isReplica = isSame(found, primary) && found.is_replica === 'true'
    if (!isReplica) {
      this.#leave(isSame(found, primary) ? 'it is no replica, or no longer one' : 'it is another database')
      return
    }
    this.#isUsable = true
    if (this.#reported !== 'unused') return
    this.#reported = null
    log(`The replica, ${server.place}, answers reads again.`)
  }

  /** Notes that it can't be used for now, and tells the operator once. */
  #leave(why: string): void {
    const { server, log } = this.#options
    this.#isUsable = false
    if (this.#reported === 'unused') return
    this.#reported = 'unused'
    log(`The replica, ${server.place}, answers no reads, and DATABASE_URL answers all: ${why}.`)
  }

  #noteCurrent(): void {
    this.#behindSince = null
    if (this.#reported === 'behind') this.#reported = null
  }

  #noteBehind(): void {
    const { server, log } = this.#options
    this.#behindSince ??= performance.now()
    if (this.#reported || performance.now() - this.#behindSince < behindMaxMs) return
    this.#reported = 'behind'
    log(
      `The replica, ${server.place}, is behind by more than ${behindMaxMs / 1000} s, and DATABASE_URL answers its reads.`,
    )
  }

  async close(): Promise<void> {
    const { server, share } = this.#options
    void this.#looking.stop()
    share.stop()
    await server.sql.end()
    await server.close()
  }
}

/**
 * Opens the replica of the server that `primary` asks. One that can't be reached now is used later. Throws a
 * StartupError if it is another database or can't be used at all.
 */
export async function openReplica(
  options: LimitedOptions,
  url: string,
  primary: Ask,
  shareOf: (server: Server) => FairShare,
): Promise<Replica> {
  const server = serverAt(
    options,
    namingSetting('DATABASE_READ_URL', () => serverAddress(url)),
  )
  const { statementTimeoutMs, log } = options
  const own = await identityOf(primary).catch(error => {
    const message = `DATABASE_READ_URL can't be compared with DATABASE_URL, whose user needs the right to call pg_control_system(): ${error.message}.`
    throw new StartupError(message, { cause: error })
  })
  const replica = new Replica({ server, share: shareOf(server), primary: own, statementTimeoutMs, log })
  try {
    const found = await replica.ask()
    if (!isSame(found, own))
      throw new StartupError(
        `${server.place}, is no replica of DATABASE_URL but another database. Let DATABASE_READ_URL name a streaming replica of it, or leave it out.`,
      )
    replica.look(found)
  } catch (error) {
    const reason = error instanceof StartupError ? error : refusalOf(error, server.place)
    if (reason) {
      await replica.close()
      throw reason
    }
  }
  return replica
}

/** The refusal of an address that can never be used, such as a wrong password; null: it may answer later. */
function refusalOf(error: unknown, place: string): StartupError | null {
  const { cause = error, message } = error as Error
  if (!(cause instanceof PostgresError) || /^(57P|53)/.test(cause.code)) return null
  return new StartupError(`${place}, which DATABASE_READ_URL names, cannot be used: ${message}`, {
    cause: error,
  })
}

const identity = `SELECT system_identifier::text AS cluster, pg_is_in_recovery()::text AS is_replica,
  (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS database
FROM pg_control_system()`

async function identityOf(ask: Ask): Promise<Identity> {
  const [row] = await ask<[Identity]>(identity, [])
  return row
}

function isSame(one: Identity, other: Identity): boolean {
  return one.cluster === other.cluster && one.database === other.database
}

function isCancelled(error: unknown): boolean {
  return error instanceof PostgresError && error.code === '57014'
}

function elsewhere<R>(outcome: 'behind' | 'failed' | 'unused', onPrimary: () => Promise<R>): Promise<R> {
  publish('replica-read', { outcome })
  return onPrimary()
}
