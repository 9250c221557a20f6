/**
 * The measured time of a load. It begins after a warm-up, and lasts until there is at least one result: on a
 * busy machine a short time may bring none, and then there would be no ratio.
 */
export class Slice {
  readonly #from: number
  #until: number
  #isEmpty = true

  /** `warmUp` and `seconds` are in seconds; the warm-up begins now. */
  constructor({ warmUp, seconds }: { readonly warmUp: number; readonly seconds: number }) {
    this.#from = performance.now() + warmUp * 1000
    this.#until = this.#from + seconds * 1000
  }

  /** True if a result at `now` counts. */
  counts(now: number): boolean {
    if (now < this.#from || this.isOver(now)) return false
    this.#isEmpty = false
    this.#until = Math.max(this.#until, now)
    return true
  }

  isOver(now: number): boolean {
    return now >= this.#until && !this.#isEmpty
  }

  /** Its length. */
  get seconds(): number {
    return (this.#until - this.#from) / 1000
  }
}
