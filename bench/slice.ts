/**
 * The time in which a load is measured. It begins after a warm-up, and lasts until something has come out of
 * it: on a machine that is busy with other things nothing may come in a short time, and then there would be
 * no ratio.
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

  /** Whether what came out at `now` counts. */
  counts(now: number): boolean {
    if (now < this.#from || this.isOver(now)) return false
    this.#isEmpty = false
    this.#until = Math.max(this.#until, now)
    return true
  }

  isOver(now: number): boolean {
    return now >= this.#until && !this.#isEmpty
  }

  /** How long it was. */
  get seconds(): number {
    return (this.#until - this.#from) / 1000
  }
}
