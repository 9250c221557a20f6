/**
 * The embedded engine carries out one thing after the other. Owns how long a statement may take there, and
 * how long one may wait for those before it: what takes too long is ended, what waits too long is refused.
 * Knows no statement.
 */
import type { Turn } from '../session.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

export type Patience = {
  /**
   * Asks the engine for what has this turn; ends it when told to. Throws DatabaseUnavailable when it had to
   * wait too long.
   */
  guard<T>(ask: (turn: Turn) => Promise<T>, ended?: AbortSignal): Promise<T>
  /** whether anything waits for what is carried out */
  readonly isWaitedFor: boolean
  stop(): void
}

export type PatienceOptions = {
  /** Has the engine end what it carries out. It may not notice the first time. */
  interrupt(): void
  /** how long one statement may take, in milliseconds */
  readonly limitMs: number
  /** how long one may wait until it is carried out, in milliseconds */
  readonly patienceMs: number
}

type Asked = {
  readonly turn: Turn
  readonly since: number
  readonly ended: AbortSignal | undefined
  refuse: (() => void) | null
}

const lookEveryMs = 50

export function watchLine({ interrupt, limitMs, patienceMs }: PatienceOptions): Patience {
  const line = new Set<Asked>()
  let timer: NodeJS.Timeout | undefined

  const look = () => {
    const now = performance.now()
    for (const asked of line) {
      const { turn, since, ended } = asked
      if (turn.runsSince !== null) {
        if (ended?.aborted || now - turn.runsSince > limitMs) interrupt()
      } else if (!turn.hasBegun && now - since > patienceMs) {
        asked.refuse?.()
        asked.refuse = null
      }
    }
    if (line.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    guard: (ask, ended) =>
      new Promise((resolve, reject) => {
        timer ??= setInterval(look, lookEveryMs)
        ended?.addEventListener('abort', look)
        const refuse = () => reject(new DatabaseUnavailable('The database is busy'))
        const asked: Asked = {
          turn: { hasBegun: false, runsSince: null },
          since: performance.now(),
          ended,
          refuse,
        }
        line.add(asked)
        ask(asked.turn)
          .finally(() => {
            line.delete(asked)
            ended?.removeEventListener('abort', look)
          })
          .then(resolve, reject)
      }),
    get isWaitedFor() {
      for (const { turn, refuse } of line) if (!turn.hasBegun && refuse) return true
      return false
    },
    stop: () => clearInterval(timer),
  }
}
