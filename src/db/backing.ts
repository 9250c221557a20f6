/**
 * What the two kinds of database have to offer, so that `open.ts` makes of either the one that the rest of
 * the service knows.
 */
import type { Database } from './open.ts'
import type { Ask, Turn } from './session.ts'

export type Backing = Pick<Database, 'engine' | 'filesMax' | 'sql'> & {
  isAvailable(): boolean
  /** whether the disk has room for what is written */
  hasRoom(): boolean
  readonly unhurried: Ask
  /** Asks for a request; refuses it when it waits in vain. */
  guard<T>(ask: (turn?: Turn) => Promise<T>): Promise<T>
  /** how many reads that may take long are carried out at the same time */
  readonly placesForReads: number
  /** how many of these one account may have when others ask, too */
  readonly placesOfOne: number
  /** whether one of these keeps other statements waiting */
  isWaitedFor(): boolean
  /** Carries out one of these, till `ended` has it ended. */
  read<R>(statement: Parameters<Ask>, ended: AbortSignal): Promise<R>
  close(): Promise<void>
}

/** The same statement, with its turn. */
export function withTurn([text, params, options]: Parameters<Ask>, turn: Turn | undefined): Parameters<Ask> {
  return [text, params, { ...options, turn }]
}
