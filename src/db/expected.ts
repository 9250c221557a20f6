/**
 * What a server may say next (PostgreSQL, "Message Flow"). Answers have no names: they belong to questions by
 * their order alone. So one message too few or too many would hand each later answer to the wrong question,
 * and whatever is out of order throws, which ends the connection (D100). Knows no statement.
 */
import { from } from './wire.ts'

/** The bytes of rows that one answer may have. A message has at most a gigabyte; no page comes near that. */
const answerMax = 2 ** 30

type State = 'begins' | 'parsed' | 'bound' | 'rows' | 'noRows' | 'done' | 'refused'
type Steps = { readonly [S in State]?: { readonly [type: number]: State } }

const statementBegins = { [from.parsed]: 'parsed', [from.bound]: 'bound' } as const
const rows = { [from.row]: 'rows', [from.carriedOut]: 'done' } as const
/** The way of one statement sent with its parameters. */
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

export class Expected {
  /** how many statements each question in line has; null for a script */
  readonly #queue: (number | null)[] = []
  #state: State = 'begins'
  /** how many statements of the first question are answered */
  #answered = 0
  #bytes = 0

  /** A question was sent, of so many statements; null for a script. */
  add(statements: number | null): void {
    this.#queue.push(statements)
  }

  /** Takes the next message of an answer. Throws when it can't be one. */
  take(type: number, length: number): void {
    const first = this.#queue[0]
    if (first === undefined) throw new Error('An answer that nobody waits for')
    if (type === from.ready) this.#finish(first)
    else this.#goOn(this.#next(first, type), type === from.row ? length : 0)
  }

  #goOn(next: State | undefined, length: number): void {
    if (next === undefined) throw new Error('An answer out of order')
    this.#bytes += length
    if (this.#bytes > answerMax) throw new Error('An answer of more than a gigabyte')
    if (next === 'done') this.#answered++
    this.#state = next
  }

  #next(first: number | null, type: number): State | undefined {
    if (type === from.refusal && this.#state !== 'refused') return 'refused'
    if (first === null) return ofScript[this.#state]?.[type]
    const hasMore = this.#state === 'done' && this.#answered < first
    return (hasMore ? statementBegins : ofStatement[this.#state])?.[type as keyof typeof statementBegins]
  }

  #finish(first: number | null): void {
    const isWhole = this.#state === 'done' && (first === null || this.#answered === first)
    if (!isWhole && this.#state !== 'refused') throw new Error('An answer that ends too early')
    this.#queue.shift()
    this.#state = 'begins'
    this.#answered = 0
    this.#bytes = 0
  }
}
