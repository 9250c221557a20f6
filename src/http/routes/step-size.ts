/** How many operations of a batch the next step has (D78), so that others don't wait long for it. Pure. */

/** Target duration of what a step's operations take, in milliseconds: others wait meanwhile. */
const stepMs = 50
/** Number of operations per step: minimum, initial, maximum. */
const [smallest, first, largest] = [4, 8, 250]
const growthMax = 4

/** A step: its number of operations, and how long it took. */
type Taken = { readonly count: number; readonly ms: number }

/**
 * Follows the steps of a batch. Part of a step's time does not depend on its size: the commit, or a deal that
 * is brought in line with its thousands of activities (D73). Two sizes tell that part. It is left out, since
 * smaller steps would only do such work more often.
 */
export class StepSize {
  next = first
  #before: Taken | null = null
  #fixedMs = 0

  follow(step: Taken): void {
    const { count, ms } = step
    const before = this.#before
    if (before && before.count !== count) {
      const each = (ms - before.ms) / (count - before.count)
      this.#fixedMs = Math.max(0, ms - Math.max(0, each) * count)
    }
    const own = Math.max(0, ms - this.#fixedMs)
    const growth = Math.min(growthMax, stepMs / own)
    this.next = Math.round(Math.min(largest, Math.max(smallest, growth * count)))
    this.#before = step
  }
}
