/**
 * Writes of an account that wait, while all its records are read on the embedded engine (D81). Owns who
 * waits; knows nothing of what is read or written.
 */
import { DatabaseUnavailable } from './unavailable.ts'

export class Pauses {
  /** account → the end of its pauses */
  readonly #pauses = new Map<string, Promise<void>>()
  readonly #waitMs: number

  /** `waitMs`: how long a write may wait */
  constructor(waitMs: number) {
    this.#waitMs = waitMs
  }

  /** Carries out `act` while no write of the account begins. Waits for another such act. */
  async during<T>(account: string, act: () => Promise<T>): Promise<T> {
    for (let other = this.#pauses.get(account); other; other = this.#pauses.get(account)) await other
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pauses.set(account, promise)
    try {
      return await act()
    } finally {
      this.#pauses.delete(account)
      resolve()
    }
  }

  /** Resolves when the account may write. Throws DatabaseUnavailable when that takes too long. */
  async over(account: string): Promise<void> {
    const pause = this.#pauses.get(account)
    if (!pause) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const why = 'All records of the account are being read'
      timer = setTimeout(() => reject(new DatabaseUnavailable(why)), this.#waitMs)
    })
    await Promise.race([pause, late]).finally(() => clearTimeout(timer))
  }
}
