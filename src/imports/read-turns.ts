/** Turns for others while a file is read: what is at hand already is read without any. */

/** How long the event loop waits at most for a turn. */
const turnMs = 10

export class Turns {
  #until = performance.now() + turnMs

  /** Whether it is time to wait for `next`. */
  get isDue(): boolean {
    return performance.now() > this.#until
  }

  async next(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    this.#until = performance.now() + turnMs
  }
}
