/** How statements are sent to the database, and what is answered and thrown. */
import type { Progress } from './response-queue.ts'
import type * as wire from './wire.ts'

export type AskOptions = {
  /** whether the connection keeps the statement prepared */
  readonly prepare?: boolean
  /** rows as arrays, each value the bytes that PostgreSQL sent */
  readonly raw?: boolean
  /** whether it is answered so soon that others on its connection may wait for it */
  readonly isQuick?: boolean
  readonly progress?: Progress | undefined
}

/**
 * Sends a statement with its parameters. Without any, not even an empty list, it is a script, which may be
 * several statements; the rows are those of the last that has any. Throws `StatementTooLarge`,
 * `PostgresError` for what PostgreSQL refuses, and DatabaseUnavailable.
 */
export type Ask = <R = wire.Row[]>(
  text: string,
  params?: readonly (string | null)[],
  options?: AskOptions,
) => Promise<R>

/**
 * Sends statements with their parameters, none of them a script, which are carried out whole or not at all:
 * PostgreSQL makes one transaction of them. Throws `OneRefused` with what `Ask` throws for one of them, and
 * DatabaseUnavailable.
 */
export type AskTogether = (statements: readonly Parameters<Ask>[]) => Promise<wire.Row[][]>

/** One of several statements was refused, for this `cause`; so none of them was carried out. */
export class OneRefused extends Error {
  override name = 'OneRefused'
  readonly which: number
  constructor(which: number, cause: Error) {
    super(`Statement ${which} was refused`, { cause })
    this.which = which
  }
}
