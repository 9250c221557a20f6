/**
 * Whose an answer is: PostgreSQL answers in the order in which it was asked, so what was asked stands in
 * line. Owns that, and which statements the connection keeps prepared. Sends nothing, and knows nothing of
 * what is asked.
 */
import type { Ask } from './session.ts'
import * as wire from './wire.ts'

/** How far what is asked has come in its connection's line; it may be several statements. */
export type Turn = {
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
  readonly turn: Turn | undefined
  /** under which the connection keeps it; empty for one that it doesn't keep */
  readonly name: string
  /** whether PostgreSQL has its text still to read */
  isNew: boolean
  /** the answer, as far as it has come */
  columns: readonly string[]
  rows: unknown[]
}

/** What is asked at once, and carried out whole or not at all. */
export type Question = {
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

export class Line {
  /** how many statements wait for their answers */
  underWay = 0
  #line: Question[] = []
  /** The names of the statements that the connection keeps, by their texts. */
  readonly #kept = new Map<string, string>()
  #lastName = 0
  readonly #sendAgain: (question: Question) => void

  constructor(sendAgain: (question: Question) => void) {
    this.#sendAgain = sendAgain
  }

  /** The statements as they are to be sent now. */
  named(asked: readonly Parameters<Ask>[]): Statement[] {
    const own = new Map<string, string>()
    return asked.map(([text, params = [], { prepare = false, raw = false, turn } = {}]) => {
      const known = prepare ? (this.#kept.get(text) ?? own.get(text)) : undefined
      const name = prepare ? (known ?? `s${++this.#lastName}`) : ''
      // What is not kept is unnamed, and the next unnamed statement takes its place.
      if (prepare) own.set(text, name)
      return { text, params, isRaw: raw, turn, name, isNew: known === undefined, columns: [], rows: [] }
    })
  }

  /** Takes a place in line for what is sent next. */
  add(question: Question): void {
    const { statements } = question
    if (this.#line.push(question) === 1) comeFirst(statements[0]!)
    this.underWay += statements.length
    for (const { name, text } of statements) if (name !== '') this.#kept.set(text, name)
  }

  /** Takes a message that belongs to the answer to the first in line. */
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

  /** PostgreSQL carries out nothing more of the first in line, and nothing of it remains. */
  refuse(refusal: wire.PostgresError): void {
    this.#first.refusal = refusal
  }

  /** The first in line has its answer whole. `state` is that of its transaction. */
  finishFirst(state: string): void {
    const [first, answered] = [this.#first, this.#answered]
    const { statements, at, refusal } = first
    if (answered.turn) answered.turn.runsSince = null
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
    this.#line.shift()
    this.underWay -= statements.length
    if (this.#line.length > 0) comeFirst(this.#answered)
  }

  /** Refuses all that wait. */
  end(reason: Error): void {
    const refused = this.#line
    this.#line = []
    this.underWay = 0
    for (const { reject } of refused) reject(reason)
  }

  /** Without one the connection is out of step, and what this throws ends it. */
  get #first(): Question {
    const [first] = this.#line
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
    const { turn } = this.#answered
    if (turn) turn.runsSince = null
    first.at++
    comeFirst(this.#answered)
  }

  #forget({ text, name }: Statement): void {
    if (this.#kept.get(text) === name) this.#kept.delete(text)
  }
}

function comeFirst({ turn }: Statement): void {
  if (!turn) return
  turn.hasBegun = true
  turn.runsSince = performance.now()
  turn.onBegin?.()
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
