/**
 * How many exports there may be at a time (D81). Few are made: each holds a connection to the database and
 * reads all it can. More may be sent: each holds a file and some memory. One more waits a little, as most are
 * short. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'

/** How many are made at a time: as many as the database has connections for (db/server.ts). */
const makingMax = 4
/** How many are made or sent at a time, of one account and of all. */
const ofOneMax = 2
export const exportsMax = 64
const waitMs = 3000
const tryAgain = { 'retry-after': '10' }

/** Each of the two is done once, however often it is called. */
export type Place = {
  /** The export has been made, or never will be. */
  made(): void
  /** The export has been sent, or never will be. */
  sent(): void
}

export class Places {
  /** account → its exports */
  readonly #taken = new Map<number, number>()
  #all = 0
  #making = 0
  /** those who wait, the first first: what gives them their place, and their accounts */
  readonly #waiting = new Map<() => void, number>()

  /** Waits for a place, three seconds at most. Throws `rate_limited` or `overloaded`. */
  async take(account: number): Promise<Place> {
    if (this.#isFree(account)) this.#begin(account)
    else await this.#turn(account)
    return {
      made: once(() => {
        this.#making--
        this.#goOn()
      }),
      sent: once(() => {
        const left = this.#of(account) - 1
        if (left > 0) this.#taken.set(account, left)
        else this.#taken.delete(account)
        this.#all--
        this.#goOn()
      }),
    }
  }

  #of(account: number): number {
    return this.#taken.get(account) ?? 0
  }

  #isFree(account: number): boolean {
    return this.#making < makingMax && this.#all < exportsMax && this.#of(account) < ofOneMax
  }

  #begin(account: number): void {
    this.#taken.set(account, this.#of(account) + 1)
    this.#all++
    this.#making++
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

  /** A free place goes to the account with the fewest; among equals, to the one that has waited longest. */
  #goOn(): void {
    const fewestFirst = [...this.#waiting].sort(([, one], [, other]) => this.#of(one) - this.#of(other))
    for (const [begin, account] of fewestFirst) {
      if (!this.#isFree(account)) continue
      this.#waiting.delete(begin)
      this.#begin(account)
      begin()
    }
  }

  #refusal(account: number): Refusal {
    if (this.#of(account) < ofOneMax)
      return new Refusal('overloaded', 'Too many exports are under way; try again in a moment.', [], tryAgain)
    const why = `An account may have ${ofOneMax} exports at a time; wait until one has ended.`
    return new Refusal('rate_limited', why, [], tryAgain)
  }
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) act()
    isDone = true
  }
}
