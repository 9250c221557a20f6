/** The options of a connection: its servers, its settings, and the functions that it calls. */
import type { Duplex } from 'node:stream'
import type { Ask } from '../ask.ts'
import type { GreetingOptions } from './greeting.ts'
import type { OnNotice } from './warnings.ts'

/** Connects; `signal` is aborted when the connection is no longer wanted. */
export type Connect = (signal: AbortSignal) => Duplex | Promise<Duplex>

export type ConnectionOptions = GreetingOptions & {
  /** the servers of the address; the first available one is used */
  readonly servers: readonly Connect[]
  /** delay before connecting, in milliseconds */
  readonly delayMs: number
  /** True if the peer is another process, so that each send costs a system call */
  readonly isRemote: boolean
  /** goes before each transaction, in which alone its settings hold */
  readonly preamble?: Parameters<Ask> | null
  /** time limit of each server until it is ready for queries, in milliseconds; null if others limit it */
  readonly connectWithinMs: number | null
  /** Called after each answer. */
  onAnswer(): void
  /** Called once, when it is over. */
  onOver(): void
  readonly onNotice: OnNotice
  /** Takes one line for the operator. */
  readonly log: (line: string) => void
}
