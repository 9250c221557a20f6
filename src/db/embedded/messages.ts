/**
 * The messages between the service's thread and the engine's thread. Bytes are PostgreSQL's wire protocol
 * (version 3), towards the engine always whole messages. Knows neither side.
 */
import type { SharedBuffer } from './replies.ts'
import type { Interrupt } from './shared-memory.ts'

export type EngineStart = {
  /** the cluster's directory; absent = in memory */
  readonly directory?: string
  /** a file with the initial cluster of a new database */
  readonly template?: string
}

export type ToEngine =
  /** Run these messages and answer with `reply`s, the last of which is marked. */
  | { readonly kind: 'batch'; readonly connection: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Shut the cluster down cleanly. */
  | { readonly kind: 'close' }

export type FromEngine =
  | { readonly kind: 'open'; readonly replies: SharedBuffer; readonly interrupt: Interrupt }
  /** The engine could not be opened or has failed. The thread ends. */
  | {
      readonly kind: 'failed'
      readonly message: string
      /** True if PostgreSQL itself failed, not the file system */
      readonly isOfDatabase: boolean
    }
  | {
      readonly kind: 'reply'
      readonly connection: number
      readonly bytes: Uint8Array<ArrayBuffer>
      readonly last: boolean
      /** number of files that the engine has flushed to disk so far */
      readonly fsyncs: number
    }
  | { readonly kind: 'closed' }
