/**
 * A semaphore whose permits keys share fairly, such as accounts. A free permit goes to the key that holds the
 * fewest; on a tie to the one that `compare` puts first, else to the one that has waited longest. A wait that
 * takes too long, or whose signal is aborted, throws and takes nothing. A holder releases its permit whether
 * it succeeds or fails; releasing twice has no effect.
 */
import { beginWait } from '../diagnostics.ts'

/**
 * The wait has ended without a permit: it took too long, or the caller has left. PostgreSQL uses the same
 * code when a statement can't get a lock.
 */
export class WaitEnded extends Error {
  override name = 'WaitEnded'
  readonly code = '55P03'
}

export type FairSemaphoreOptions<Key> = {
  /** what waits here, for diagnostics */
  readonly name: string
  readonly permits: number
  /** number of permits that a key may hold now; when it changes, call `admit` */
  permitsOf(key: Key): number
  /** negative if `one` comes before `other` where both hold equally many */
  compare?(one: Key, other: Key): number
  /** called when a permit is acquired, before the next waiter is considered */
  onAcquire?(key: Key): void
  /** longest wait for a permit; absent: no limit */
  readonly waitMs?: number
}

type Waiter<Key> = { readonly key: Key; begin(): void }

export class FairSemaphore<Key> {
  readonly #options: FairSemaphoreOptions<Key>
  /** the waiters in their order */
  readonly #waiting = new Set<Waiter<Key>>()
  /** key → number of permits that it holds */
  readonly #held = new Map<Key, number>()
  #free: number

  constructor(options: FairSemaphoreOptions<Key>) {
    this.#options = options
    this.#free = options.permits
  }

  /** Resolves with the function that releases the permit. Throws WaitEnded. */
  async acquire(key: Key, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw new WaitEnded(left)
    if (this.#mayHold(key)) this.#take(key)
    else await this.#wait(key, signal)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#release(key)
    }
  }

  admit(): void {
    for (let one = this.#next(); one; one = this.#next()) {
      this.#waiting.delete(one)
      this.#take(one.key)
      one.begin()
    }
  }

  heldBy(key: Key): number {
    return this.#held.get(key) ?? 0
  }

  /** True if a key waits, other than `besides`. */
  isWaitedFor(besides?: Key): boolean {
    return this.#waiting.values().some(({ key }) => key !== besides)
  }

  #mayHold(key: Key): boolean {
    return this.#free > 0 && this.heldBy(key) < this.#options.permitsOf(key)
  }

  #take(key: Key): void {
    this.#held.set(key, this.heldBy(key) + 1)
    this.#free--
    this.#options.onAcquire?.(key)
  }

  #release(key: Key): void {
    const rest = this.heldBy(key) - 1
    if (rest > 0) this.#held.set(key, rest)
    else this.#held.delete(key)
    this.#free++
    this.admit()
  }

  #wait(key: Key, signal: AbortSignal | undefined): Promise<void> {
    const { name, waitMs } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { key, begin: resolve }
    const end = (why: string) => {
      this.#waiting.delete(waiter)
      reject(new WaitEnded(why))
    }
    const leave = () => end(left)
    const late = () => end('It had no turn in time')
    const timer = waitMs === undefined ? undefined : setTimeout(late, waitMs).unref()
    signal?.addEventListener('abort', leave)
    this.#waiting.add(waiter)
    const endWait = beginWait(name)
    return promise.finally(() => {
      endWait()
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    })
  }

  #next(): Waiter<Key> | undefined {
    let best: Waiter<Key> | undefined
    for (const one of this.#waiting)
      if (this.#mayHold(one.key) && (!best || this.#compare(one.key, best.key) < 0)) best = one
    return best
  }

  #compare(one: Key, other: Key): number {
    return this.heldBy(one) - this.heldBy(other) || (this.#options.compare?.(one, other) ?? 0)
  }
}

const left = 'Nobody waits for it'
