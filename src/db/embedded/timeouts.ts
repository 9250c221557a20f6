/**
 * The time limits of the embedded engine, which carries out one statement after the other. A statement that
 * takes too long is ended. A statement that waits too long for those before it is refused, if anybody waits
 * for its answer. Knows no statement.
 */
import type { Progress } from '../response-queue.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

export type Timeouts = {
  /**
   * Carries out a statement. Ends it when `ended` is aborted. Throws DatabaseUnavailable when it has waited
   * too long; background work waits as long as it takes.
   */
  guard<T>(ask: (progress: Progress) => Promise<T>, how?: Guarding): Promise<T>
  /** whether somebody waits for the statement that is carried out */
  readonly isWaitedFor: boolean
  stop(): void
}

export type TimeoutOptions = {
  /** Interrupts the engine's statement. The engine may not notice the first time. */
  interrupt(): void
  /** how long one statement may take, in milliseconds */
  readonly limitMs: number
  /** how long a statement may wait until it begins, in milliseconds */
  readonly waitMs: number
}

type Guarding = { readonly ended?: AbortSignal; readonly isBackground?: boolean }

type Asked = {
  readonly progress: Progress
  readonly since: number
  readonly ended: AbortSignal | undefined
  /** null when nobody waits for it: it was refused, or is background work */
  refuse: (() => void) | null
}

const lookEveryMs = 50

export function watchTimeouts({ interrupt, limitMs, waitMs }: TimeoutOptions): Timeouts {
  const pending = new Set<Asked>()
  let timer: NodeJS.Timeout | undefined

  const look = () => {
    const now = performance.now()
    for (const asked of pending) {
      const { progress, since, ended } = asked
      if (progress.runsSince !== null) {
        if (ended?.aborted || now - progress.runsSince > limitMs) interrupt()
      } else if (!progress.hasBegun && now - since > waitMs) {
        asked.refuse?.()
        asked.refuse = null
      }
    }
    if (pending.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    guard: (ask, { ended, isBackground = false } = {}) =>
      new Promise((resolve, reject) => {
        timer ??= setInterval(look, lookEveryMs)
        ended?.addEventListener('abort', look)
        const refuse = () => reject(new DatabaseUnavailable('The database is busy'))
        const asked: Asked = {
          progress: { hasBegun: false, runsSince: null },
          since: performance.now(),
          ended,
          refuse: isBackground ? null : refuse,
        }
        pending.add(asked)
        ask(asked.progress)
          .finally(() => {
            pending.delete(asked)
            ended?.removeEventListener('abort', look)
          })
          .then(resolve, reject)
      }),
    get isWaitedFor() {
      for (const { progress, refuse } of pending) if (!progress.hasBegun && refuse) return true
      return false
    },
    stop: () => clearInterval(timer),
  }
}
