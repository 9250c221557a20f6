/**
 * Makes the client's pipelining (postgres.js 3.4) sound and complete. Owns this one repair; knows nothing of what is asked.
 *
 * Before a statement with parameters the client asks the server for their types and waits, with the connection to itself, before it
 * sends the values. Two things are wrong with that. When a prepared statement has to be prepared anew (its table was altered, a pooler
 * dropped it) the client asks again but does not keep others off the connection: from then on answers go to the wrong statements. And
 * every unprepared statement costs two round trips during which nothing else moves. Parameters are text here (open.ts), so their types
 * need not be known, and every statement goes out in one piece.
 */
import type { Sql } from 'postgres'

/** The client's statement object, as far as this is concerned; for each sending, `describeFirst` is set after all the others. */
type Statement = Promise<unknown> & {
  describeFirst: boolean
  /** whether it is to be prepared, and already is on the connection it goes to */
  prepare: boolean
  readonly prepared: boolean
  readonly signature: string
  readonly onlyDescribe?: boolean
  /** one object a connection */
  readonly state: object
}

/** What is being prepared, by connection. */
const underWay = new WeakMap<object, Set<string>>()
const asked = Symbol('describeFirst')

/** Repairs the statements of every client in this process, `sql`'s among them; to be called before the first is sent. */
export function repairPipelining(sql: Sql): void {
  const statements = Object.getPrototypeOf(sql.unsafe('')) as object
  if (Object.hasOwn(statements, 'describeFirst')) return
  Object.defineProperty(statements, 'describeFirst', {
    get(this: { [asked]?: boolean }) {
      return this[asked]
    },
    set(this: Statement & { [asked]?: boolean }) {
      this[asked] = this.onlyDescribe === true
      if (this.prepare && !this.prepared) prepareOnce(this)
    },
  })
}

/** Of statements with the same text that come together only the first is prepared; each would become one on the server for good. */
function prepareOnce(statement: Statement): void {
  const { state, signature } = statement
  const signatures = underWay.get(state) ?? new Set()
  underWay.set(state, signatures)
  if (signatures.has(signature)) {
    statement.prepare = false
    return
  }
  signatures.add(signature)
  const done = () => signatures.delete(signature)
  statement.then(done, done)
}
