/** The caller of a statement as parameters, and the steps of a write. Types only. */
import type { Param, Sql } from '../sql.ts'
import type { Catalog } from './catalog.ts'

/** The parameters of a condition of visibility (D63): of a caller, or of the users in a statement's rows. */
export type VisibilityParams = {
  readonly resources: Catalog['resources']
  readonly account: Param
  readonly actor: Param | Sql
  /** an array */
  readonly territories: Param | Sql
}

/** A caller as parameters of a statement, each bound to one placeholder. */
export type CallerParams = VisibilityParams & {
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
  readonly allowedInactive: Param | null
  readonly version: Param
  readonly origin: {
    readonly token: Param
    readonly session: Param
    readonly request: Param
    readonly job: Param
    /** 'mcp' if an agent wrote it (D148), and the name of its program */
    readonly by: Param
    readonly client: Param
    /** the traceparent of the request (D169) */
    readonly trace: Param
  }
}

/** A step of a write: SQL that changes rows. Later steps, events and the answer may read them by its name. */
export type Step = {
  readonly name: string
  /** INSERT, UPDATE, DELETE or SELECT; absent: it only names rows of other steps */
  readonly change?: Sql
  /** what the change returns to those that read it in the same statement; nobody else reads it */
  readonly returning?: Sql
  /** SELECT of its rows when it is done; absent if nothing reads them */
  readonly rows?: () => Sql
}
