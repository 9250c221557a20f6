/**
 * The time limits of the embedded engine, which runs one statement after the other. A statement that runs too
 * long is cancelled. A statement that queues too long is refused, if a request waits for its answer. Time in
 * which the process itself stood still doesn't count: the engine's answers lie there unread. Knows no
 * statement.
 */
import { watchStandstill } from '../../waiting/standstill.ts'
import type { Progress } from '../postgres/response-queue.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

export type Timeouts = {
  /**
   * Runs a statement. Cancels it when `ended` is aborted. Throws DatabaseUnavailable when it has queued too
   * long; background work waits without a limit.
   */
  guard<T>(ask: (progress: Progress) => Promise<T>, how?: GuardOptions): Promise<T>
  /** True if a request waits for the running statement */
  readonly isWaitedFor: boolean
  /** time since the last statement of a request, in milliseconds; 0: there is one */
  readonly idleMs: number
  stop(): void
}

export type TimeoutOptions = {
  /** Interrupts the running statement. The engine may miss the first interrupt. */
  interrupt(): void
  /** longest run of a statement, in milliseconds */
  readonly limitMs: number
  /** longest wait of a statement before it begins, in milliseconds */
  readonly waitMs: number
}

type GuardOptions = { readonly ended?: AbortSignal; readonly isBackground?: boolean }

type RunningStatement = {
  readonly progress: Progress
  since: number
  readonly ended: AbortSignal | undefined
  /** null when no request waits for it: it was refused, or is background work */
  refuse: (() => void) | null
}

const lookEveryMs = 50

export function watchTimeouts(options: TimeoutOptions): Timeouts {
  const pending = new Set<RunningStatement>()
  let endedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  const standstill = watchStandstill(lookEveryMs)

  const lookOnTime = () => {
    postpone(pending, standstill.sinceLastLook())
    look()
  }

  const look = () => {
    for (const asked of pending) judge(asked, options)
    if (pending.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    guard: (ask, { ended, isBackground = false } = {}) =>
      new Promise((resolve, reject) => {
        if (!timer) {
          standstill.begin()
          timer = setInterval(lookOnTime, lookEveryMs)
        }
        ended?.addEventListener('abort', lookOnTime)
        const refuse = () => reject(new DatabaseUnavailable('The database is busy'))
        const asked: RunningStatement = {
          progress: { hasBegun: false, runsSince: null },
          since: performance.now(),
          ended,
          refuse: isBackground ? null : refuse,
        }
        pending.add(asked)
        ask(asked.progress)
          .finally(() => {
            pending.delete(asked)
            if (!isBackground) endedAt = performance.now()
            ended?.removeEventListener('abort', lookOnTime)
          })
          .then(resolve, reject)
      }),
    get isWaitedFor() {
      for (const { progress, refuse } of pending) if (!progress.hasBegun && refuse) return true
      return false
    },
    get idleMs() {
      const isAsked = pending.values().some(({ refuse }) => refuse)
      return isAsked ? 0 : performance.now() - endedAt
    },
    stop: () => clearInterval(timer),
  }
}

function judge(asked: RunningStatement, { interrupt, limitMs, waitMs }: TimeoutOptions): void {
  const { progress, since, ended } = asked
  const now = performance.now()
  if (progress.runsSince !== null) {
    if (ended?.aborted || now - progress.runsSince > limitMs) interrupt()
  } else if (!progress.hasBegun && now - since > waitMs) {
    asked.refuse?.()
    asked.refuse = null
  }
}

function postpone(pending: Iterable<RunningStatement>, ms: number): void {
  for (const asked of pending) {
    asked.since += ms
    if (asked.progress.runsSince !== null) asked.progress.runsSince += ms
  }
}
