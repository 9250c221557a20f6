/**
 * What the service's thread and the engine's thread say to each other. Bytes are PostgreSQL wire protocol
 * (version 3), always whole messages towards the engine. Knows neither side.
 */

import type { Shared } from './replies.ts'
import type { Interrupt } from './shared-memory.ts'

export type EngineStart = {
  /** the cluster's directory; absent = in memory */
  readonly directory?: string
  /**
   * in memory only: a file that keeps a freshly initialised cluster, so that the next start need not make one
   */
  readonly template?: string
}

export type ToEngine =
  /** Carry out these messages and answer with `reply`s, the last of which says so. */
  | { readonly kind: 'batch'; readonly connection: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Shut the cluster down cleanly. */
  | { readonly kind: 'close' }

export type FromEngine =
  | { readonly kind: 'open'; readonly replies: Shared; readonly interrupt: Interrupt }
  /** It could not be opened, or can't go on; the thread ends. */
  | { readonly kind: 'failed'; readonly message: string }
  | {
      readonly kind: 'reply'
      readonly connection: number
      readonly bytes: Uint8Array<ArrayBuffer>
      readonly last: boolean
      /** how many times the engine had the system write a file through to the disk, so far */
      readonly fsyncs: number
    }
  | { readonly kind: 'closed' }

/** A buffer of its own, so that it can be handed over to the thread. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
