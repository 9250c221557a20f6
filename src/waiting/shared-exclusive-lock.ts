/**
 * A shared–exclusive lock (readers–writer lock) for each key. Shared holders hold it together; an exclusive
 * one holds it alone. An exclusive caller waits for the shared holders that have begun, and those that come
 * later wait for it. It is fair by phases: after an exclusive holder, all shared callers that have waited
 * come before the next exclusive one. A shared caller waits for a limited time, then it is refused and does
 * nothing (D81). An error of a holder is that holder's alone.
 */
import { within } from './timeout.ts'

/** The lock of a key; there as long as anybody holds it. */
type Lock = {
  /** how many hold it together */
  shared: number
  /** the end of the exclusive holder; null when there is none */
  exclusive: Promise<void> | null
  /** lets shared callers begin that have come since */
  readonly waiting: Set<() => void>
  /** says that the last shared holder is done */
  idle: (() => void) | null
}

export class SharedExclusiveLock<Key> {
  readonly #locks = new Map<Key, Lock>()
  readonly #waitMs: number
  readonly #timeoutError: () => Error

  /** `waitMs`: how long a shared caller may wait; `timeoutError`: what it gets then */
  constructor(waitMs: number, timeoutError: () => Error) {
    this.#waitMs = waitMs
    this.#timeoutError = timeoutError
  }

  /** Carries out `act` while nobody else holds the key. */
  async exclusive<T>(key: Key, act: () => Promise<T>): Promise<T> {
    for (let other = this.#locks.get(key)?.exclusive; other; other = this.#locks.get(key)?.exclusive)
      await other
    const lock = this.#lockOf(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    lock.exclusive = promise
    try {
      if (lock.shared > 0) await new Promise<void>(idle => (lock.idle = idle))
      return await act()
    } finally {
      lock.exclusive = null
      // They begin before the next exclusive holder: no shared caller waits for one after the other.
      lock.shared += lock.waiting.size
      for (const begin of lock.waiting) begin()
      lock.waiting.clear()
      this.#leave(key, lock)
      resolve()
    }
  }

  /** Carries out `act` while nobody holds the key exclusively. Throws the timeout error. */
  async shared<T>(key: Key, act: () => Promise<T>): Promise<T> {
    const lock = this.#lockOf(key)
    if (lock.exclusive) await this.#wait(lock)
    else lock.shared++
    try {
      return await act()
    } finally {
      lock.shared--
      this.#leave(key, lock)
    }
  }

  #lockOf(key: Key): Lock {
    let lock = this.#locks.get(key)
    if (!lock) {
      lock = { shared: 0, exclusive: null, waiting: new Set(), idle: null }
      this.#locks.set(key, lock)
    }
    return lock
  }

  /** Whoever has left the waiting in time has begun. */
  #wait({ waiting }: Lock): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.add(resolve)
    return within(promise, this.#waitMs, () => {
      if (waiting.delete(resolve)) throw this.#timeoutError()
    })
  }

  #leave(key: Key, lock: Lock): void {
    if (lock.shared > 0) return
    lock.idle?.()
    lock.idle = null
    if (!lock.exclusive) this.#locks.delete(key)
  }
}
