/**
 * A mutex for each key, such as an account or a record. Callers of one key hold it in FIFO order; those of
 * other keys don't wait for them. It has no timeout and can't be aborted: the guarded work has limits of its
 * own. An error of a holder doesn't affect the others.
 */
import { beginWait } from '../diagnostics.ts'

export class KeyedMutex<Key> {
  /** key → promise that resolves when its last holder is done */
  readonly #tails = new Map<Key, Promise<void>>()
  readonly #name: string

  /** `name`: what waits here, for diagnostics */
  constructor(name: string) {
    this.#name = name
  }

  isLocked(key: Key): boolean {
    return this.#tails.has(key)
  }

  /** Resolves with the function that unlocks the key. */
  async lock(key: Key): Promise<() => void> {
    const before = this.#tails.get(key)
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const tail = before ? before.then(() => done) : done
    this.#tails.set(key, tail)
    if (before) {
      const end = beginWait(this.#name)
      await before
      end()
    }
    return () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
      resolve()
    }
  }

  async run<T>(key: Key, act: () => Promise<T>): Promise<T> {
    const unlock = await this.lock(key)
    try {
      return await act()
    } finally {
      unlock()
    }
  }
}
