/**
 * The interface of both engines, embedded and server. open.ts turns either into the database that the rest of
 * the service uses.
 */
import type { Ask } from './ask.ts'
import type { Database } from './open.ts'
import type { PoolTransaction } from './postgres/pool.ts'
import type { Progress } from './postgres/response-queue.ts'

export type Driver = Pick<Database, 'engine' | 'filesMax' | 'sql'> & {
  isAvailable(): boolean
  hasDiskSpace(): boolean
  readonly queryWithoutTimeLimit: Ask
  /**
   * Runs a statement of a request. Refuses it when the database does not answer in time. `isBackground`: no
   * request waits for it.
   */
  guard<T>(ask: (progress?: Progress) => Promise<T>, isBackground?: boolean): Promise<T>
  /** True if one session runs everything, one statement after the other */
  readonly hasOneConnection: boolean
  /** True if the tables of accounts are distributed over several nodes (D173) */
  readonly isDistributed: boolean
  /** number of long reads that run at the same time */
  readonly readPermits: number
  /** number of long reads that one account may run while others wait */
  readonly permitsOfOne: number
  /** number of transactions of requests at the same time; each has a connection of its own */
  readonly transactionPermits: number
  /** True if long reads keep other statements waiting */
  isWaitedFor(): boolean
  /** time since the last statement of a request, in milliseconds; 0: there is one */
  idleMs(): number
  /** Runs a long read; aborting `ended` cancels it. */
  read<R>(statement: Parameters<Ask>, ended: AbortSignal): Promise<R>
  /** Runs `act` in a transaction of one snapshot; null where one session runs everything. */
  readonly snapshot: (<T>(act: (tx: PoolTransaction) => Promise<T>, ended: AbortSignal) => Promise<T>) | null
  close(): Promise<void>
}

/** The statement with its progress. */
export function withProgress(
  [text, params, options]: Parameters<Ask>,
  progress: Progress | undefined,
): Parameters<Ask> {
  return [text, params, { ...options, progress }]
}
