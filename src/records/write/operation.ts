/** A write: its operations, their outcomes and author. */
import type { Problem, Refusal, Warning } from '../../errors.ts'
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import type { Field, Values } from '../../fields/field.ts'
import type { Undone } from '../../fields/resource.ts'
import type { Json } from '../../json.ts'
import type { AuthorizedCaller, Caller } from '../../rights/visibility.ts'
import type { IdempotentRequest } from '../idempotency.ts'
import type { Precondition } from '../precondition.ts'
import type { FoundRecords } from '../references.ts'
import type { Transaction } from '../store.ts'
import type { Work } from '../work.ts'
import type { Origin } from './protocol.ts'

/** The caller of a write, their configuration and their rights; the service itself has them all. */
export type WriteContext = Caller &
  Origin & {
    /** time of the write, for sample data with a history; default: now, by the database's clock */
    readonly at?: Date
    /** fields whose sent values are stored, though the service normally sets them (D80) */
    readonly overrides?: readonly string[]
    /** inactive users to whom records may newly point (D80), by their ids */
    readonly allowedInactive?: ReadonlyMap<number, string>
    /** records found earlier in the transaction, under the account's lock; it deletes none of them */
    readonly found?: FoundRecords
    /** True to skip rendering: the caller ignores the saved records, which may be {} in bulk */
    readonly skipsRendering?: true
    /** True in a dry run (D79), for which others may wait */
    readonly isDry?: true
    /** the key of an idempotent request (D8) */
    readonly idempotency?: IdempotentRequest | null
  }

/** The work of a request, or of the user of a job. */
export type RequestWork = Work<Transaction, WriteContext & AuthorizedCaller>

export const operationNames = ['create', 'update', 'upsert', 'delete', 'restore'] as const

/** One write. An id or a unique value identifies its record; a create has neither. */
export type Operation = {
  readonly op: (typeof operationNames)[number]
  readonly id: number | null
  readonly key: UniqueKey | null
  /** why nothing identifies its record by now: it is refused, unless it was carried out before (D8) */
  readonly unidentified?: Refusal
  readonly precondition: Precondition
  /** True if no new record meets the precondition; default: if there is one */
  readonly isConditional?: boolean
  readonly body: Json
  /** the body, if it depends on the stored record */
  readonly bodyOn?: (before: Values) => Json
  readonly options?: WriteOptions
}

/** A unique field, and the value in it that identifies a record. */
export type UniqueKey = { readonly field: Field; readonly value: Json; readonly text: string }

/** Options of a write that no request may send, such as values of read-only fields. */
export type WriteOptions = {
  readonly values?: Values
  /** steps beside the record's, which may read it as `r` */
  readonly steps?: (params: WriteParams) => Step[]
  /** problems of the body that only the calling code can find */
  readonly problems?: readonly Problem[]
  /** warnings that only the calling code can find */
  readonly warnings?: readonly Warning[]
  /** the change that an undo reverts (D83) */
  readonly undoes?: Undone
  /** Throws if the stored record may not be changed. */
  readonly check?: (before: Values) => Promise<void>
}

/** A saved record: JSON text as the database built it. */
export type Saved = {
  readonly id: number
  readonly version: number
  readonly record: string
  readonly warnings: readonly Warning[]
  /** the records that were created with it (D1) */
  readonly created: readonly { readonly resource: string; readonly id: number }[]
  readonly isNew?: boolean
  readonly isUnchanged?: boolean
}

/** A saved record with its new secret; null for a replay, as secrets are not kept. */
export type SavedSecret = Saved & { readonly secret: string | null }

/** Result of an operation: the saved record, the id of the deleted record, or the refusal. */
export type Outcome = { readonly saved: Saved } | { readonly deleted: number } | { readonly refusal: Refusal }
