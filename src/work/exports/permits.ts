/**
 * Limits concurrent exports (D81). Few are produced at a time: each holds a connection to the database and
 * reads at full speed. More may be sent: each holds a file and some memory. A further one waits a little, as
 * most are short. Knows no HTTP.
 */
import { Refusal } from '../../errors.ts'
import { FairSemaphore } from '../../waiting/fair-semaphore.ts'

/** Maximum produced at a time: the number of database connections for it (db/postgres/server.ts). */
const makingMax = 4
/** Maximum produced or sent at a time, by one account and in total. */
const ofOneMax = 2
export const exportsMax = 64
const waitMs = 3000
const tryAgain = { 'retry-after': '10' }

/** Both calls are idempotent. */
export type Permit = {
  /** The export is complete, or never will be. */
  completed(): void
  /** The export has been sent, or never will be. */
  sent(): void
}

export class ExportPermits {
  #making = 0
  readonly #semaphore = new FairSemaphore<number>({
    name: 'export',
    permits: exportsMax,
    permitsOf: () => (this.#making < makingMax ? ofOneMax : 0),
    onAcquire: () => this.#making++,
    waitMs,
  })

  /** Waits for a permit, three seconds at most. Throws `rate_limited` or `overloaded`. */
  async acquire(account: number): Promise<Permit> {
    const sent = await this.#semaphore.acquire(account).catch(() => Promise.reject(this.#refusal(account)))
    let isCompleted = false
    const completed = () => {
      if (isCompleted) return
      isCompleted = true
      this.#making--
      this.#semaphore.admit()
    }
    return { completed, sent }
  }

  #refusal(account: number): Refusal {
    if (this.#semaphore.heldBy(account) < ofOneMax)
      return new Refusal('overloaded', 'Too many exports are under way; try again in a moment.', [], tryAgain)
    const why = `An account may have ${ofOneMax} exports at a time; wait until one has ended.`
    return new Refusal('rate_limited', why, [], tryAgain)
  }
}
