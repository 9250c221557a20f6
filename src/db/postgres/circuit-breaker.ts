/**
 * A circuit breaker: it notices when a server stops answering. While the circuit is open, requests are
 * refused at once. It closes when the server answers again. Time in which this process itself stood still is
 * no silence of the server. Knows no connection.
 */
import { type Standstill, watchStandstill } from '../../waiting/standstill.ts'
import { asUnavailable, DatabaseUnavailable, rejectLater } from '../unavailable.ts'

export type CircuitBreakerOptions = {
  /**
   * Sends a statement that any database answers at once. `isLost`: the previous probe will never be answered
   * over its connection.
   */
  probe(isLost: boolean): Promise<unknown>
  /** longest silence of the server, in milliseconds */
  readonly silenceMs: number
  /** time limit of one answer, in milliseconds, even if others are answered meanwhile */
  readonly limitMs: number
  /** Called when an answer has taken longer than that. */
  onLate(): void
}

type Refuse = (error: unknown) => void

export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions
  /** function that refuses a waiting request → start of its wait */
  readonly #waiting = new Map<Refuse, number>()
  /** time of the server's last answer */
  #lastSign = 0
  #probing: { since: number } | null = null
  #isOpen = false
  #timer: NodeJS.Timeout | null = null
  readonly #everyMs: number
  readonly #standstill: Standstill

  constructor(options: CircuitBreakerOptions) {
    this.#options = options
    this.#everyMs = options.silenceMs / 10
    this.#standstill = watchStandstill(this.#everyMs)
  }

  /** Runs `ask`; throws DatabaseUnavailable as soon as the database is known not to answer. */
  guard<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#isOpen) return rejectLater(unanswered())
    if (!this.#timer) {
      this.#lastSign = performance.now()
      this.#standstill.begin()
      this.#timer = setInterval(() => this.#look(), this.#everyMs)
    }
    // A request that waits for its answer keeps the process alive; a database without requests does not.
    this.#timer.ref()
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(reject, performance.now())
      ask().then(
        value => {
          this.#stopWaiting(reject)
          this.#close()
          resolve(value)
        },
        error => {
          this.#stopWaiting(reject)
          if (!(asUnavailable(error) instanceof DatabaseUnavailable)) this.#close()
          reject(error)
        },
      )
    })
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
  }

  #open(): void {
    this.#isOpen = true
    this.#refuse([...this.#waiting.keys()])
  }

  /** Closes the circuit: the server has answered, however late. */
  #close(): void {
    this.#isOpen = false
    this.#lastSign = performance.now()
  }

  #refuse(all: readonly Refuse[]): void {
    for (const one of all) {
      this.#waiting.delete(one)
      one(unanswered())
    }
    if (this.#waiting.size === 0) this.#timer?.unref()
  }

  #stopWaiting(one: Refuse): void {
    this.#waiting.delete(one)
    if (this.#waiting.size === 0) this.#timer?.unref()
  }

  #probe(isLost: boolean): void {
    const own = { since: performance.now() }
    this.#probing = own
    this.#options.probe(isLost).then(
      () => {
        this.#probing = null
        this.#close()
      },
      error => {
        if (this.#probing !== own) return
        this.#probing = null
        // A refusal is an answer too, for example when the server has too many connections.
        if (isAnswer(error)) this.#close()
        else this.#open()
      },
    )
  }

  #look(): void {
    if (this.#waiting.size === 0 && !this.#isOpen && !this.#probing) {
      clearInterval(this.#timer!)
      this.#timer = null
      return
    }
    this.#postpone(this.#standstill.sinceLastLook())
    const { silenceMs, limitMs } = this.#options
    const now = performance.now()
    const late = [...this.#waiting].filter(([, since]) => now - since > limitMs)
    this.#refuse(late.map(([one]) => one))
    if (late.length > 0) this.#options.onLate()
    if (this.#probing) {
      const since = this.#silentSince()
      // Answers that came while this process was busy are read before the server is judged.
      if (now - since > silenceMs * 0.6)
        setImmediate(() => this.#probing && this.#silentSince() === since && this.#open())
      if (now - since > silenceMs * 3) this.#probe(true)
    } else if (this.#isOpen || now - this.#lastSign > silenceMs * 0.2) this.#probe(false)
  }

  #postpone(ms: number): void {
    for (const [one, since] of this.#waiting) this.#waiting.set(one, since + ms)
    if (this.#probing) this.#probing.since += ms
    this.#lastSign = Math.min(this.#lastSign + ms, performance.now())
  }

  #silentSince(): number {
    return Math.max(this.#probing?.since ?? 0, this.#lastSign)
  }
}

/**
 * True if the error is PostgreSQL's answer to the statement. That it is starting or stopping is no answer.
 */
function isAnswer(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) && !/^(57P|08)/.test(code)
}

function unanswered(): DatabaseUnavailable {
  return new DatabaseUnavailable('The database does not answer')
}
