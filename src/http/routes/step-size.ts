/** How many operations of a batch the next step has (D78), so that others don't wait long for it. Pure. */

/** Target duration of what a step's operations take, in milliseconds: others wait meanwhile. */
const stepMs = 50
/** Number of operations per step: minimum, initial, maximum. */
const [smallest, first, largest] = [4, 8, 250]
const growthMax = 4
/** Two steps whose sizes differ by less differ more by chance than by their operations. */
const ratioMin = 1.5

/** A step: its number of operations, and how long it took. */
type Taken = { readonly count: number; readonly ms: number }

/**
 * Follows the steps of a batch. Part of a step's time does not depend on its size: the commit, or a deal that
 * is brought in line with its thousands of activities (D73). Two sizes tell that part. It is left out, since
 * smaller steps would only do such work more often.
 */
export class StepSize {
  next = first
  /** an earlier step of another size, to compare with */
  #other: Taken | null = null
  #fixedMs = 0

  follow(step: Taken): void {
    const { count, ms } = step
    this.#other ??= step
    const other = this.#other
    if (Math.max(count / other.count, other.count / count) >= ratioMin) {
      const each = (ms - other.ms) / (count - other.count)
      this.#fixedMs = Math.max(0, ms - Math.max(0, each) * count)
      this.#other = step
    }
    const own = Math.max(0, ms - this.#fixedMs)
    const growth = Math.min(growthMax, stepMs / own)
    this.next = Math.round(Math.min(largest, Math.max(smallest, growth * count)))
  }
}
