/**
 * Makes the client's transactions (postgres.js 3.4) keep to their connection. Owns this one repair; knows nothing of what is asked.
 *
 * When a connection is lost in the middle of a transaction, the client still sends the rest of it, its ROLLBACK too: to a connection that
 * is not there, which ends the process, or to one that was made meanwhile, where each statement takes effect by itself. And where a
 * BEGIN is the one with which a connection is fully used, the client forgets to give the connection to the transaction.
 */
import type { Sql } from 'postgres'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

/** The client's objects, as far as this is concerned. A statement's handler is a function of the transaction, or of the pool. */
type Statement = { readonly handler: object; readonly options: { onexecute?: Adopt }; reject(error: unknown): void }
type Connection = {
  execute(statement: Statement): unknown
  /** what the connection does next for the transaction that has it; a new one for each transaction, null when it is lost */
  reserved: object | null
}
type Adopt = (connection: Connection) => unknown
type Scope = { unsafe(text: string, params?: unknown[], options?: object): Statement }
type Client = Scope & { begin(...args: unknown[]): Promise<unknown> }

const adopted = new WeakSet<Connection>()
/** For each transaction's handler, what its connection had as `reserved` when it began. */
const reservations = new WeakMap<object, object>()

/**
 * Repairs `sql.begin`; savepoints within a transaction are not covered. While `isAvailable` says no, statements are refused before they
 * are written, so that a connection that is about to end has nothing left to write.
 */
export function repairTransactions(sql: Sql, isAvailable: () => boolean): void {
  const client = sql as unknown as Client
  const { begin, unsafe } = client
  const adopt: Adopt = connection => {
    if (!adopted.has(connection)) guard(connection, isAvailable, adopt)
    adopted.add(connection)
    return true
  }
  /** Set while `begin` makes its BEGIN, which it does before it first waits. */
  let beginning: Adopt | undefined
  client.unsafe = (text, params = [], options = {}) => {
    if (!Array.isArray(params)) return client.unsafe(text, [], params)
    if (!beginning) return unsafe(text, params, { onexecute: adopt, ...options })
    const [note, { onexecute }] = [beginning, options as { onexecute: Adopt }]
    return unsafe(text, params, { onexecute: (connection: Connection) => [onexecute(connection), note(connection)][0] })
  }
  client.begin = async (...args) => {
    let own: Connection | undefined
    const act = args.pop() as (tx: Scope) => unknown
    beginning = connection => {
      own = connection
      adopt(connection)
    }
    const whole = begin(...args, (tx: Scope) => {
      if (own?.reserved) reservations.set(tx.unsafe('').handler, own.reserved)
      return act(tx)
    })
    beginning = undefined
    return whole.catch(settleLoss)
  }
}

function guard(connection: Connection, isAvailable: () => boolean, adopt: Adopt): void {
  const { execute } = connection
  connection.execute = statement => {
    const reservation = reservations.get(statement.handler)
    const isLost = reservation && connection.reserved !== reservation
    if (isLost || !isAvailable()) {
      statement.reject(
        new DatabaseUnavailable(isLost ? 'The connection was lost within the transaction' : 'The database is not available'),
      )
      return true
    }
    const before = connection.reserved
    const isFree = execute(statement)
    // Only a transaction's BEGIN reserves. It is not asked if the connection is fully used by then.
    const reserve = statement.options.onexecute
    if (!isFree && reserve && reserve !== adopt && connection.reserved === before) reserve(connection)
    return isFree
  }
}

/**
 * Throws the error, a lost connection's only when every connection lost at the same moment has noticed: to one that is ending but does
 * not know it yet the client would write something that then precedes all it writes after reconnecting.
 */
export async function settleLoss(error: unknown): Promise<never> {
  if (asUnavailable(error) instanceof DatabaseUnavailable) await new Promise(setImmediate)
  throw error
}
