/**
 * The state machine of the server's messages (PostgreSQL, "Message Flow"). Answers have no ids: they belong
 * to queries by order alone. One message too few or too many would assign each later answer to the wrong
 * query, so a message out of order throws, which ends the connection (D100). Knows no statement.
 */
import { DatabaseUnavailable, protocolViolation } from '../unavailable.ts'
import { from, type PostgresError } from './wire.ts'

/** Byte limit of the rows of one answer. A message has at most a gigabyte; no page comes near that. */
const answerMax = 2 ** 30

type State = 'begins' | 'parsed' | 'bound' | 'rows' | 'noRows' | 'done' | 'refused'
type Steps = { readonly [S in State]?: { readonly [type: number]: State } }

const statementBegins = { [from.parsed]: 'parsed', [from.bound]: 'bound' } as const
const rows = { [from.row]: 'rows', [from.carriedOut]: 'done' } as const
/** The states of one statement with parameters. */
const ofStatement: Steps = {
  begins: statementBegins,
  parsed: { [from.bound]: 'bound' },
  bound: { [from.rowDescription]: 'rows', [from.noRows]: 'noRows' },
  rows,
  noRows: { [from.carriedOut]: 'done', [from.empty]: 'done' },
}
const scriptGoesOn = {
  [from.rowDescription]: 'rows',
  [from.carriedOut]: 'done',
  [from.empty]: 'done',
} as const
const ofScript: Steps = { begins: scriptGoesOn, rows, done: scriptGoesOn }

/**
 * Classes of SQLSTATE in which a commit can be refused after all its statements were answered. No constraint
 * is deferred, so a statement's own fault there is the answer to a later query.
 */
const commitRefused = /^(40|53|57|58|XX)/

export class Expected {
  /** number of statements of each query in the queue; null for a script */
  readonly #queue: (number | null)[] = []
  #state: State = 'begins'
  /** number of answered statements of the first query */
  #answered = 0
  #bytes = 0

  /** Adds a sent query with its number of statements; null for a script. */
  add(statements: number | null): void {
    this.#queue.push(statements)
  }

  /** Takes the next message of an answer, `refusal` if it is one. Throws when it is out of order. */
  take(type: number, length: number, refusal: PostgresError | null): void {
    const first = this.#queue[0]
    if (first === undefined) throw protocolViolation('an answer that nobody waits for')
    if (type === from.ready) this.#finish(first)
    else if (refusal) this.#goOn(this.#canRefuse(first, refusal) ? 'refused' : undefined, 0)
    else this.#goOn(this.#next(first, type), type === from.row ? length : 0)
  }

  #goOn(next: State | undefined, length: number): void {
    if (next === undefined) throw protocolViolation('an answer out of order')
    this.#bytes += length
    if (this.#bytes > answerMax)
      throw new DatabaseUnavailable('An answer of the server has more than a gigabyte')
    if (next === 'done') this.#answered++
    this.#state = next
  }

  #canRefuse(first: number | null, { code }: PostgresError): boolean {
    if (this.#state === 'refused') return false
    return first === null || !this.#isWhole(first) || commitRefused.test(code)
  }

  #next(first: number | null, type: number): State | undefined {
    if (first === null) return ofScript[this.#state]?.[type]
    const hasMore = this.#state === 'done' && !this.#isWhole(first)
    return (hasMore ? statementBegins : ofStatement[this.#state])?.[type as keyof typeof statementBegins]
  }

  /** True if the first query may be over: a script may end after each of its statements. */
  #isWhole(first: number | null): boolean {
    return this.#state === 'done' && (first === null || this.#answered === first)
  }

  #finish(first: number | null): void {
    if (!this.#isWhole(first) && this.#state !== 'refused')
      throw protocolViolation('an answer that ends too early')
    this.#queue.shift()
    this.#state = 'begins'
    this.#answered = 0
    this.#bytes = 0
  }
}
