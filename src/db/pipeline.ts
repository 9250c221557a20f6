/**
 * Makes the client's pipelining (postgres.js 3.4) sound and complete. Owns this one repair; knows nothing of what is asked.
 *
 * Before a statement with parameters the client asks the server for their types and waits, with the connection to itself, before it
 * sends the values. Two things are wrong with that. When a prepared statement has to be prepared anew (its table was altered, a pooler
 * dropped it) the client asks again but does not keep others off the connection: from then on answers go to the wrong statements. And
 * every unprepared statement costs two round trips during which nothing else moves. Parameters are text here (open.ts), so their types
 * need not be known, and in both cases the statement can go out in one piece.
 */
import type { Sql } from 'postgres'

/** The client's statement object, as far as this is concerned; `describeFirst` is set when a statement is built, each time it is. */
type Statement = { describeFirst: boolean; readonly prepare: boolean; readonly onlyDescribe?: boolean }

const asked = Symbol('describeFirst')

/** Repairs the statements of every client in this process, `sql`'s among them; to be called before the first is sent. */
export function repairPipelining(sql: Sql): void {
  const statements = Object.getPrototypeOf(sql.unsafe('')) as object
  if (Object.hasOwn(statements, 'describeFirst')) return
  Object.defineProperty(statements, 'describeFirst', {
    get(this: { [asked]?: boolean }) {
      return this[asked]
    },
    set(this: Statement & { [asked]?: boolean }, wanted: boolean) {
      // Asking is kept for a statement's first preparation on a connection: others with the same text wait and then use it.
      const isFirst = this[asked] === undefined
      this[asked] = Boolean(wanted && (this.onlyDescribe || (this.prepare && isFirst)))
    },
  })
}
