/**
 * The queue of responses of a connection: PostgreSQL answers in the order in which it was asked. Owns which
 * query an answer belongs to, and which statements the connection keeps prepared. Sends nothing, and knows
 * nothing of what is asked.
 */
import type { Ask } from './ask.ts'
import * as wire from './wire.ts'

/** How far a query has come in the queue of its connection; it may be several statements. */
export type Progress = {
  hasBegun: boolean
  /** since when PostgreSQL carries out one of them, by performance.now() */
  runsSince: number | null
  /** Called each time it is set. */
  readonly onBegin?: () => void
}

type Statement = {
  readonly text: string
  readonly params: readonly (string | null)[]
  readonly isRaw: boolean
  readonly progress: Progress | undefined
  /** under which the connection keeps it; empty for one that it doesn't keep */
  readonly name: string
  /** whether PostgreSQL has its text still to read */
  isNew: boolean
  /** the answer, as far as it has come */
  columns: readonly string[]
  rows: unknown[]
}

/** What is asked at once, and carried out whole or not at all. */
export type PendingQuery = {
  readonly statements: readonly Statement[]
  /** whether it is one text without parameters, which may be several statements */
  readonly isScript: boolean
  /** which of the statements is answered now */
  at: number
  refusal: wire.PostgresError | null
  resolve(rows: readonly unknown[][]): void
  /** `which`: the statement that was refused */
  reject(error: Error, which?: number): void
}

export class ResponseQueue {
  /** how many statements wait for their answers */
  underWay = 0
  #queue: PendingQuery[] = []
  /** The names of the statements that the connection keeps, by their texts. */
  readonly #kept = new Map<string, string>()
  #lastName = 0
  readonly #sendAgain: (query: PendingQuery) => void

  constructor(sendAgain: (query: PendingQuery) => void) {
    this.#sendAgain = sendAgain
  }

  /** The statements as they are to be sent now. */
  named(asked: readonly Parameters<Ask>[]): Statement[] {
    const own = new Map<string, string>()
    return asked.map(([text, params = [], { prepare = false, raw = false, progress } = {}]) => {
      const known = prepare ? (this.#kept.get(text) ?? own.get(text)) : undefined
      const name = prepare ? (known ?? `s${++this.#lastName}`) : ''
      // Statements that are not kept use PostgreSQL's unnamed statement.
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

  /** PostgreSQL carries out nothing more of the first query, and nothing of it remains. */
  refuse(refusal: wire.PostgresError): void {
    this.#first.refusal = refusal
  }

  /** The first query has its answer whole. `state` is that of its transaction. */
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
      // In a transaction nothing is carried out after it was refused.
      if (isForgotten && state === 'I') this.#sendAgain({ ...first, statements: again, at: 0, refusal: null })
      else first.reject(refusal, at)
    }
    this.#queue.shift()
    this.underWay -= statements.length
    if (this.#queue.length > 0) comeFirst(this.#answered)
  }

  /** Refuses all that wait. */
  end(reason: Error): void {
    const refused = this.#queue
    this.#queue = []
    this.underWay = 0
    for (const { reject } of refused) reject(reason)
  }

  /** Without one the connection is out of step, and what this throws ends it. */
  get #first(): PendingQuery {
    const [first] = this.#queue
    if (!first) throw new Error('An answer that nobody waits for')
    return first
  }

  get #answered(): Statement {
    const { statements, at } = this.#first
    return statements[at]!
  }

  /** The next statement is carried out; a commit that is refused counts as the last one's refusal. */
  #goOn(): void {
    const first = this.#first
    if (first.at === first.statements.length - 1) return
    const { progress } = this.#answered
    if (progress) progress.runsSince = null
    first.at++
    comeFirst(this.#answered)
  }

  #forget({ text, name }: Statement): void {
    if (this.#kept.get(text) === name) this.#kept.delete(text)
  }
}

function comeFirst({ progress }: Statement): void {
  if (!progress) return
  progress.hasBegun = true
  progress.runsSince = performance.now()
  progress.onBegin?.()
}

/** Whether an error says that a prepared statement must be prepared anew. */
export function isOutdated(error: unknown): boolean {
  return error instanceof wire.PostgresError && outdated.has(error.routine ?? '')
}

/**
 * Where PostgreSQL refuses a prepared statement that it doesn't know (a pooler changed the server), or whose
 * tables were altered.
 */
const outdated = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery'])
