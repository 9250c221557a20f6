/**
 * What the embedded engine and a server both offer. open.ts turns either into the database that the rest of
 * the service knows.
 */

import type { Ask } from './ask.ts'
import type { Database } from './open.ts'
import type { Transaction } from './pool.ts'
import type { Progress } from './response-queue.ts'

export type Backend = Pick<Database, 'engine' | 'filesMax' | 'sql'> & {
  isAvailable(): boolean
  /** whether the disk has space for writes */
  hasDiskSpace(): boolean
  readonly queryWithoutTimeLimit: Ask
  /**
   * Carries out a request's statement. Refuses it when the database does not answer in time. `isBackground`:
   * nobody waits for it.
   */
  guard<T>(ask: (progress?: Progress) => Promise<T>, isBackground?: boolean): Promise<T>
  /** whether one session carries out everything, one statement after the other */
  readonly hasOneSession: boolean
  /** how many long reads are carried out at the same time */
  readonly readPermits: number
  /** how many long reads one account may have while others ask too */
  readonly permitsOfOne: number
  /** how many transactions of requests there are at the same time; each has a connection to itself */
  readonly transactionPermits: number
  /** whether long reads keep other statements waiting */
  isWaitedFor(): boolean
  /** Carries out a long read, until `ended` ends it. */
  read<R>(statement: Parameters<Ask>, ended: AbortSignal): Promise<R>
  /** Carries out `act` in a transaction of one snapshot; null where one session carries out everything. */
  readonly snapshot: (<T>(act: (tx: Transaction) => Promise<T>, ended: AbortSignal) => Promise<T>) | null
  close(): Promise<void>
}

/** The statement with a note of how far it has come. */
export function withProgress(
  [text, params, options]: Parameters<Ask>,
  progress: Progress | undefined,
): Parameters<Ask> {
  return [text, params, { ...options, progress }]
}
