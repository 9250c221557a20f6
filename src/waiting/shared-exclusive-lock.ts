/**
 * A shared–exclusive lock (readers–writer lock) for each key. Shared holders hold it together; an exclusive
 * one holds it alone. An exclusive caller waits for the current shared holders, and later ones wait for it.
 * It is phase-fair: after an exclusive holder, all waiting shared callers come before the next exclusive one.
 * A shared caller waits for a limited time, unless it is patient, then it is refused and does nothing (D81).
 * An error of a holder doesn't affect the others.
 */
import { beginWait } from '../diagnostics.ts'
import { within } from './timeout.ts'

/** The lock of a key; it exists while it has a holder. */
type Lock = {
  /** number of shared holders */
  shared: number
  /** promise of the exclusive holder's end; null when there is none */
  exclusive: Promise<void> | null
  /** functions that start waiting shared callers */
  readonly waiting: Set<() => void>
  /** called when the last shared holder is done */
  idle: (() => void) | null
}

export class SharedExclusiveLock<Key> {
  readonly #locks = new Map<Key, Lock>()
  readonly #name: string
  readonly #waitMs: number
  readonly #timeoutError: () => Error

  /**
   * `name`: what waits here, for diagnostics; `waitMs`: longest wait of a shared caller; `timeoutError`: the
   * error that it then throws
   */
  constructor(name: string, waitMs: number, timeoutError: () => Error) {
    this.#name = name
    this.#waitMs = waitMs
    this.#timeoutError = timeoutError
  }

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
      // They begin before the next exclusive holder: no shared caller waits for two of them.
      lock.shared += lock.waiting.size
      for (const begin of lock.waiting) begin()
      lock.waiting.clear()
      this.#leave(key, lock)
      resolve()
    }
  }

  /** Runs `act` while holding the key shared. Throws the timeout error, unless it `isPatient`. */
  async shared<T>(key: Key, act: () => Promise<T>, isPatient = false): Promise<T> {
    const lock = this.#lockOf(key)
    if (lock.exclusive) await this.#wait(lock, isPatient)
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

  /** Resolves when the caller may begin: it left the set of waiters in time. */
  #wait({ waiting }: Lock, isPatient: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.add(resolve)
    const end = beginWait(this.#name)
    const begun = isPatient
      ? promise
      : within(promise, this.#waitMs, () => {
          if (waiting.delete(resolve)) throw this.#timeoutError()
        })
    return begun.finally(end)
  }

  #leave(key: Key, lock: Lock): void {
    if (lock.shared > 0) return
    lock.idle?.()
    lock.idle = null
    if (!lock.exclusive) this.#locks.delete(key)
  }
}
