/** How statements are sent to the database: the types of requests, results and errors. */
import type { Progress } from './postgres/response-queue.ts'
import type * as wire from './postgres/wire.ts'

export type { Statement } from '../sql.ts'

export type AskOptions = {
  readonly prepare?: boolean
  /** True if the rows are arrays, each value the bytes that PostgreSQL sent */
  readonly raw?: boolean
  /** True if it ends so soon that other statements on its connection may wait for it */
  readonly isQuick?: boolean
  readonly progress?: Progress | undefined
}

/**
 * Sends a statement with its parameters. Without any, not even an empty list, the text is a script, which may
 * be several statements; the rows are those of the last that returns any. Throws `StatementTooLarge`,
 * `PostgresError` for anything that PostgreSQL refuses, and DatabaseUnavailable.
 */
export type Ask = <R = wire.Row[]>(
  text: string,
  params?: readonly (string | null)[],
  options?: AskOptions,
) => Promise<R>

/**
 * Sends a batch of statements with parameters, none of them a script. The batch is atomic: PostgreSQL makes
 * one transaction of it. Throws `OneRefused` with the error that `Ask` throws for one statement, and
 * DatabaseUnavailable.
 */
export type AskBatch = (statements: readonly Parameters<Ask>[]) => Promise<wire.Row[][]>

/** One statement of a batch was refused, for this `cause`; so the whole batch was rolled back. */
export class OneRefused extends Error {
  override name = 'OneRefused'
  readonly which: number
  constructor(which: number, cause: Error) {
    super(`Statement ${which} was refused`, { cause })
    this.which = which
  }
}
