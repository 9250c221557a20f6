/**
 * Notices that a server answers nothing, so that nobody waits for it longer than a moment: what waits is
 * refused, and what comes, until it answers again. Knows no connection.
 */
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

export type Stall = {
  /** Asks the database; throws DatabaseUnavailable as soon as it is known to answer nothing. */
  guard<T>(ask: () => Promise<T>): Promise<T>
  stop(): void
}

export type StallOptions = {
  /**
   * A question that any database answers at once. `isLost`: the one before was never answered, nor will be
   * over its connection.
   */
  probe(isLost: boolean): Promise<unknown>
  /** how long it may say nothing at all, in milliseconds */
  readonly patienceMs: number
  /** how long one answer may take, in milliseconds, whatever else is answered meanwhile */
  readonly limitMs: number
}

export function watchStall({ probe, patienceMs, limitMs }: StallOptions): Stall {
  /** What refuses a request that waits, and since when it does. */
  const waiting = new Map<(error: unknown) => void, number>()
  let lastSign = 0
  let probedAt: number | null = null
  let isStalled = false
  let timer: NodeJS.Timeout | null = null

  /** An answer is an answer, however late. */
  const answered = () => {
    isStalled = false
    lastSign = performance.now()
  }
  const ask = (isLost: boolean) => {
    const at = performance.now()
    probedAt = at
    probe(isLost).then(
      () => {
        probedAt = null
        answered()
      },
      error => {
        if (probedAt !== at) return
        probedAt = null
        // A refusal, for want of connections say, is an answer too.
        if (isAnswer(error)) answered()
        else stall()
      },
    )
  }
  const refuse = (all: readonly ((error: unknown) => void)[]) => {
    for (const one of all) {
      waiting.delete(one)
      one(unanswered())
    }
    if (waiting.size === 0) timer?.unref()
  }
  const stall = () => {
    isStalled = true
    refuse([...waiting.keys()])
  }
  const look = () => {
    if (waiting.size === 0 && !isStalled && probedAt === null) {
      clearInterval(timer!)
      timer = null
      return
    }
    const now = performance.now()
    refuse([...waiting].filter(([, since]) => now - since > limitMs).map(([one]) => one))
    if (probedAt !== null) {
      // Answers that came while this process was busy are read before it is judged.
      const silentSince = () => Math.max(probedAt ?? 0, lastSign)
      const since = silentSince()
      if (now - since > patienceMs * 0.6)
        setImmediate(() => probedAt !== null && silentSince() === since && stall())
      if (now - since > patienceMs * 3) ask(true)
    } else if (isStalled || now - lastSign > patienceMs * 0.2) ask(false)
  }

  return {
    guard: <T>(ask: () => Promise<T>) => {
      if (isStalled) return Promise.reject(unanswered())
      if (!timer) {
        lastSign = performance.now()
        timer = setInterval(look, patienceMs / 10)
      }
      // What waits for an answer keeps the process alive; a database that is asked for nothing does not.
      timer.ref()
      return new Promise<T>((resolve, reject) => {
        waiting.set(reject, performance.now())
        const settled = () => {
          waiting.delete(reject)
          if (waiting.size === 0) timer?.unref()
        }
        ask().then(
          value => {
            settled()
            answered()
            resolve(value)
          },
          error => {
            settled()
            if (!(asUnavailable(error) instanceof DatabaseUnavailable)) answered()
            reject(error)
          },
        )
      })
    },
    stop: () => {
      if (timer) clearInterval(timer)
    },
  }
}

/** Whether it was PostgreSQL that said it, and not that it is starting or stopping. */
function isAnswer(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) && !/^(57P|08)/.test(code)
}

function unanswered(): DatabaseUnavailable {
  return new DatabaseUnavailable('The database does not answer')
}
