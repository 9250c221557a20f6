/**
 * The unit of work of a caller on a resource: the database or a transaction, the resource, and the caller.
 * `{ ...work, db: tx }` is the same work in a transaction.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Caller } from '../rights/visibility.ts'
import type { Reader, Transaction } from './store.ts'
import type { WriteContext } from './write/operation.ts'

export type Work<Db extends Reader = Transaction, By extends Caller = WriteContext> = {
  readonly db: Db
  readonly schema: ResourceSchema
  readonly context: By
}

/** The work of whoever only reads. */
export type ReadWork = Work<Reader, Caller>

/** The work on a resource of the caller's account, by its name. */
export function workOn<Db extends Reader, By extends Caller>(
  db: Db,
  context: By,
  resource: string,
): Work<Db, By> {
  return { db, schema: context.catalog.resources.get(resource)!, context }
}
