/**
 * A mutex for each key, such as an account or a record. Callers of one key hold it one after the other, in
 * the order in which they came; those of other keys don't wait for them. It has no timeout and can't be
 * aborted: what it guards has limits of its own. An error of a holder is that holder's alone.
 */
export class KeyedMutex<Key> {
  /** key → promise that resolves when its last holder is done */
  readonly #tails = new Map<Key, Promise<void>>()

  /** Whether somebody holds the key, or waits for it. */
  isLocked(key: Key): boolean {
    return this.#tails.has(key)
  }

  /** Resolves with the function that unlocks the key again. */
  async lock(key: Key): Promise<() => void> {
    const before = this.#tails.get(key)
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const tail = before ? before.then(() => done) : done
    this.#tails.set(key, tail)
    await before
    return () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
      resolve()
    }
  }

  /** Carries out `act` while it holds the key. */
  async run<T>(key: Key, act: () => Promise<T>): Promise<T> {
    const unlock = await this.lock(key)
    return act().finally(unlock)
  }
}
