/** The caller of a statement as parameters, each bound to one placeholder. Types only. */
import type { Param } from '../sql.ts'
import type { Catalog } from './catalog.ts'

/** A caller as parameters of a statement, each bound to one placeholder. */
export type CallerParams = {
  readonly resources: Catalog['resources']
  readonly account: Param
  readonly actor: Param
  /** an array literal */
  readonly territories: Param
}

/**
 * The author of a write and the account, as parameters, and the configuration's version that validated it.
 */
export type WriteParams = CallerParams & {
  /** time of the write, if it writes history; null: now */
  readonly at: Param
  /** array of the ids of inactive records that may be pointed to (D80); null: none */
  readonly idle: Param | null
  readonly version: Param
  readonly origin: {
    readonly token: Param
    readonly session: Param
    readonly request: Param
    readonly job: Param
  }
}
