/**
 * How many exports there may be at a time (D81). Few are made: each holds a connection to the database and
 * reads all it can. More may be sent: each holds a file and some memory. One more waits a little, as most are
 * short. Knows no HTTP.
 */
import { Refusal } from '../errors.ts'
import { FairSemaphore } from '../waiting/fair-semaphore.ts'

/** How many are made at a time: as many as the database has connections for (db/server.ts). */
const makingMax = 4
/** How many are made or sent at a time, of one account and of all. */
const ofOneMax = 2
export const exportsMax = 64
const waitMs = 3000
const tryAgain = { 'retry-after': '10' }

/** Each of the two counts once, however often it is called. */
export type Permit = {
  /** The export has been made, or never will be. */
  made(): void
  /** The export has been sent, or never will be. */
  sent(): void
}

export class ExportPermits {
  #making = 0
  readonly #semaphore = new FairSemaphore<number>({
    permits: exportsMax,
    permitsOf: () => (this.#making < makingMax ? ofOneMax : 0),
    onAcquire: () => this.#making++,
    waitMs,
  })

  /** Waits for a permit, three seconds at most. Throws `rate_limited` or `overloaded`. */
  async acquire(account: number): Promise<Permit> {
    const sent = await this.#semaphore.acquire(account).catch(() => Promise.reject(this.#refusal(account)))
    let isMade = false
    const made = () => {
      if (isMade) return
      isMade = true
      this.#making--
      this.#semaphore.admit()
    }
    return { made, sent }
  }

  #refusal(account: number): Refusal {
    if (this.#semaphore.heldBy(account) < ofOneMax)
      return new Refusal('overloaded', 'Too many exports are under way; try again in a moment.', [], tryAgain)
    const why = `An account may have ${ofOneMax} exports at a time; wait until one has ended.`
    return new Refusal('rate_limited', why, [], tryAgain)
  }
}
