/**
 * How many exports may run at a time (D81): each holds a connection to the database or a file, and reads all
 * it can. One more waits a little, as most are short. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'

/** In all, as many as the database has connections for (db/server.ts), and of one account. */
const [placesMax, placesOfOne] = [4, 2]
const waitMs = 3000
const tryAgain = { 'retry-after': '10' }

export class Places {
  readonly #taken = new Map<number, number>()
  /** those who wait, the first first: their accounts, and what gives them their place */
  readonly #waiting = new Map<() => void, number>()
  #all = 0

  /**
   * Waits for a place, three seconds at most; the function that it resolves with gives it back. Throws
   * `rate_limited` or `overloaded`.
   */
  async take(account: number): Promise<() => void> {
    if (!this.#isFree(account)) await this.#turn(account)
    else this.#add(account, 1)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.#add(account, -1)
      this.#goOn()
    }
  }

  #of(account: number): number {
    return this.#taken.get(account) ?? 0
  }

  #isFree(account: number): boolean {
    return this.#all < placesMax && this.#of(account) < placesOfOne
  }

  #add(account: number, places: number): void {
    const own = this.#of(account) + places
    this.#all += places
    if (own > 0) this.#taken.set(account, own)
    else this.#taken.delete(account)
  }

  /** Resolves with a place taken. */
  #turn(account: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(this.#refusal(account))
      }, waitMs)
      this.#waiting.set(begin, account)
    })
  }

  #goOn(): void {
    for (const [begin, account] of this.#waiting) {
      if (!this.#isFree(account)) continue
      this.#waiting.delete(begin)
      this.#add(account, 1)
      begin()
    }
  }

  #refusal(account: number): Refusal {
    if (this.#of(account) < placesOfOne)
      return new Refusal('overloaded', 'Too many exports are under way; try again in a moment.', [], tryAgain)
    const why = `An account may have ${placesOfOne} exports at a time; wait until one has ended.`
    return new Refusal('rate_limited', why, [], tryAgain)
  }
}
