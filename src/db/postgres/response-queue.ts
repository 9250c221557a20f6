/**
 * The queue of responses of a connection: PostgreSQL answers queries in their order. Owns which query an
 * answer belongs to, and which statements the connection keeps prepared. Sends nothing, and knows nothing of
 * the content of queries.
 */
import type { Ask } from '../ask.ts'
import * as wire from './wire.ts'

/** Progress of a query in the queue of its connection; it may be several statements. */
export type Progress = {
  hasBegun: boolean
  /** start of the running statement, by performance.now() */
  runsSince: number | null
  /** Called each time a statement begins. */
  readonly onBegin?: () => void
}

type SentStatement = {
  readonly text: string
  readonly params: readonly (string | null)[]
  readonly isRaw: boolean
  readonly progress: Progress | undefined
  /** name of the prepared statement; empty for an unnamed one */
  readonly name: string
  /** True if PostgreSQL has not parsed its text yet */
  isNew: boolean
  /** columns of the answer so far */
  columns: readonly string[]
  rows: unknown[]
}

/** Statements that are sent at once, as one atomic batch. */
export type PendingQuery = {
  readonly statements: readonly SentStatement[]
  /** True if it is one text without parameters, which may be several statements */
  readonly isScript: boolean
  /** index of the statement that is answered now */
  at: number
  refusal: wire.PostgresError | null
  resolve(rows: readonly unknown[][]): void
  /** `which`: index of the refused statement */
  reject(error: Error, which?: number): void
}

export class ResponseQueue {
  /** number of statements that wait for their answers */
  underWay = 0
  #queue: PendingQuery[] = []
  /** Text of a prepared statement → its name. */
  readonly #kept = new Map<string, string>()
  #lastName = 0
  readonly #sendAgain: (query: PendingQuery) => void

  constructor(sendAgain: (query: PendingQuery) => void) {
    this.#sendAgain = sendAgain
  }

  /** The statements in the form in which they are sent now. */
  named(asked: readonly Parameters<Ask>[]): SentStatement[] {
    const own = new Map<string, string>()
    return asked.map(([text, params = [], { prepare = false, raw = false, progress } = {}]) => {
      const known = prepare ? (this.#kept.get(text) ?? own.get(text)) : undefined
      const name = prepare ? (known ?? `s${++this.#lastName}`) : ''
      // Statements that are not cached use PostgreSQL's unnamed statement.
      if (prepare) own.set(text, name)
      return { text, params, isRaw: raw, progress, name, isNew: known === undefined, columns: [], rows: [] }
    })
  }

  /** Adds the query that is sent next. */
  add(query: PendingQuery): void {
    const { statements } = query
    if (this.#queue.push(query) === 1) comeFirst(statements[0]!)
    this.underWay += statements.length
    for (const { name, text } of statements) if (name !== '') this.#kept.set(text, name)
  }

  /** Takes a message that belongs to the answer to the first query. */
  receive(type: number, body: Buffer): void {
    switch (type) {
      case wire.from.row: {
        const { rows, isRaw, columns } = this.#answered
        rows.push(isRaw ? wire.readRawRow(body) : wire.readRow(body, columns))
        break
      }
      case wire.from.parsed:
        this.#answered.isNew = false
        break
      case wire.from.rowDescription:
        this.#answered.columns = wire.columnNames(body)
        this.#answered.rows = []
        break
      case wire.from.carriedOut:
        this.#goOn()
        break
    }
  }

  /** The first query is refused: PostgreSQL skips the rest of it and rolls it back. */
  refuse(refusal: wire.PostgresError): void {
    this.#first.refusal = refusal
  }

  /** The first query is fully answered. `state` is that of its transaction. */
  finishFirst(state: string): void {
    const [first, answered] = [this.#first, this.#answered]
    const { statements, at, refusal } = first
    if (answered.progress) answered.progress.runsSince = null
    if (refusal === null) first.resolve(statements.map(({ rows }) => rows))
    else {
      const isForgotten = answered.name !== '' && isOutdated(refusal)
      for (const statement of statements)
        if (statement.isNew || (isForgotten && statement === answered)) this.#forget(statement)
      const again = statements.with(at, { ...answered, name: '', isNew: true })
      // In a transaction nothing runs after the refusal.
      if (isForgotten && state === 'I') this.#sendAgain({ ...first, statements: again, at: 0, refusal: null })
      else first.reject(refusal, at)
    }
    this.#queue.shift()
    this.underWay -= statements.length
    if (this.#queue.length > 0) comeFirst(this.#answered)
  }

  /** Refuses all queries that wait. */
  end(reason: Error): void {
    const refused = this.#queue
    this.#queue = []
    this.underWay = 0
    for (const { reject } of refused) reject(reason)
  }

  /** An empty queue means that the connection is out of step, and this error ends it. */
  get #first(): PendingQuery {
    const [first] = this.#queue
    if (!first) throw new Error('An answer that nobody waits for')
    return first
  }

  get #answered(): SentStatement {
    const { statements, at } = this.#first
    return statements[at]!
  }

  /** The next statement runs; a refused commit counts as the last one's refusal. */
  #goOn(): void {
    const first = this.#first
    if (first.at === first.statements.length - 1) return
    const { progress } = this.#answered
    if (progress) progress.runsSince = null
    first.at++
    comeFirst(this.#answered)
  }

  #forget({ text, name }: SentStatement): void {
    if (this.#kept.get(text) === name) this.#kept.delete(text)
  }
}

function comeFirst({ progress }: SentStatement): void {
  if (!progress) return
  progress.hasBegun = true
  progress.runsSince = performance.now()
  progress.onBegin?.()
}

/** True if an error means that a prepared statement must be prepared again. */
export function isOutdated(error: unknown): boolean {
  return error instanceof wire.PostgresError && outdated.has(error.routine ?? '')
}

/**
 * PostgreSQL's functions that refuse a prepared statement: it is unknown (a pooler changed the server), or
 * its tables were altered.
 */
const outdated = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery'])
