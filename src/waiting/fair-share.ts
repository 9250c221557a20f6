/**
 * A fair-share scheduler for work that may take long, such as reads of lists (D102): a fair semaphore with
 * time slices. An account alone may have all permits; else a part of them. On a tie the account with the
 * least time used lately comes first. Work that keeps others waiting is aborted after a time slice, one at a
 * time; time in which the process stood still is no part of the slice. Work whose caller has left is aborted
 * at once. Work that can't be aborted may have its account cool down instead. Errors of the work pass
 * through.
 */
import { FairSemaphore } from './fair-semaphore.ts'
import { watchStandstill } from './standstill.ts'

export type FairShareOptions = {
  /** what waits here, for diagnostics */
  readonly name: string
  readonly permits: number
  /** number of permits that one account may hold while others wait */
  readonly permitsOfOne: number
  /** True if the work blocks anything that has no permit here */
  isWaitedFor(): boolean
  /** time since the last use of what the work blocks, in milliseconds; 0: it is waited for or in use */
  idleMs(): number
  /** longest wait for a permit */
  readonly waitMs: number
  /** time slice: how long work may keep others waiting */
  readonly sliceMs: number
}

type Running = { readonly account: string; since: number; readonly ended: AbortController }

/** A cooldown that may end early does so once nobody has wanted anything for this part of it. */
const quietPart = 1 / 40
/** How long after its last call an account counts as active. */
const rememberedMs = 10_000
const lookEveryMs = 100

export class FairShare {
  readonly #options: FairShareOptions
  readonly #semaphore: FairSemaphore<string>
  readonly #running = new Set<Running>()
  readonly #coolingDown = new Set<string>()
  readonly #used = new UsedTime()
  #lastAccount: string | undefined
  /** time of the last call of an account other than the one before it */
  #othersAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  readonly #standstill = watchStandstill(lookEveryMs)

  constructor(options: FairShareOptions) {
    this.#options = options
    this.#semaphore = new FairSemaphore({
      ...options,
      permitsOf: account => this.#permitsOf(account),
      compare: (one, other) => this.#used.of(one) - this.#used.of(other),
    })
  }

  /**
   * Runs `act` when it is the account's turn. `act` has to end soon after its signal is aborted. If it calls
   * `coolDown`, the account waits before its next turn: as long as this one took, or, if that `endsEarly`,
   * until nobody wants anything any more. Throws WaitEnded if there is no turn in time, or `signal` is
   * aborted before.
   */
  async run<T>(
    account: string,
    signal: AbortSignal | undefined,
    act: (ended: AbortSignal, coolDown: (endsEarly: boolean) => void) => Promise<T>,
  ): Promise<T> {
    this.#noteAsked(account)
    const release = await this.#semaphore.acquire(account, signal)
    const [since, ended] = [performance.now(), new AbortController()]
    const end = () => ended.abort()
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    const running: Running = { account, since, ended }
    this.#running.add(running)
    let cooldown: { readonly endsEarly: boolean } | undefined
    const coolDown = (endsEarly: boolean) => {
      cooldown = { endsEarly }
    }
    try {
      return await act(ended.signal, coolDown)
    } finally {
      signal?.removeEventListener('abort', end)
      this.#running.delete(running)
      const tookMs = performance.now() - since
      this.#used.add(account, tookMs)
      if (cooldown) this.#coolDown(account, tookMs, cooldown.endsEarly)
      release()
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #noteAsked(account: string): void {
    if (!this.#timer) {
      this.#standstill.begin()
      this.#timer = setInterval(() => this.#look(), lookEveryMs).unref()
    }
    if (this.#lastAccount !== undefined && this.#lastAccount !== account) this.#othersAt = performance.now()
    this.#lastAccount = account
  }

  #permitsOf(account: string): number {
    if (this.#coolingDown.has(account)) return 0
    const isAlone = performance.now() - this.#othersAt > rememberedMs
    return isAlone ? this.#options.permits : this.#options.permitsOfOne
  }

  #coolDown(account: string, forMs: number, endsEarly: boolean): void {
    this.#coolingDown.add(account)
    const until = performance.now() + forMs
    const untilQuietMs = () => (endsEarly ? forMs * quietPart - this.#options.idleMs() : forMs)
    const look = () => {
      const leftMs = Math.min(until - performance.now(), untilQuietMs())
      if (leftMs > 0) return void setTimeout(look, Math.ceil(leftMs)).unref()
      this.#coolingDown.delete(account)
      this.#semaphore.admit()
    }
    look()
  }

  /** Aborts work that keeps others waiting. */
  #look(): void {
    const { sliceMs, isWaitedFor } = this.#options
    const now = performance.now()
    this.#used.halve(now)
    const stoodStill = this.#standstill.sinceLastLook()
    for (const running of this.#running) running.since += stoodStill
    // One at a time: on the embedded engine the next read may only have waited behind this one, and can now
    // run.
    const slow = this.#running
      .values()
      .find(
        ({ account, since, ended }) =>
          !ended.signal.aborted &&
          now - since > sliceMs &&
          (isWaitedFor() || this.#semaphore.isWaitedFor(account)),
      )
    slow?.ended.abort()
    // An account may be alone now.
    this.#semaphore.admit()
    if (this.#running.size > 0 || this.#semaphore.isWaitedFor()) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const halvedEveryMs = 5000

/** Time that each account has used lately, in milliseconds: it decays by halving. */
class UsedTime {
  readonly #used = new Map<string, number>()
  #halvedAt = 0

  of(account: string): number {
    return this.#used.get(account) ?? 0
  }

  add(account: string, ms: number): void {
    this.#used.set(account, this.of(account) + ms)
  }

  halve(now: number): void {
    if (now - this.#halvedAt < halvedEveryMs) return
    this.#halvedAt = now
    for (const [account, ms] of this.#used) {
      if (ms > 2) this.#used.set(account, ms / 2)
      else this.#used.delete(account)
    }
  }
}
