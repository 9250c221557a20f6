/**
 * Cooperative multitasking: long work is cut into slices of ten milliseconds and yields to the event loop
 * between them, so that other requests are answered (D103). Works that yield queue up, first come first
 * served: each turn of the event loop has one slice of one of them. Nothing ends such work early but an error
 * of its own.
 */

const sliceMs = 10

/** Resolves when the last work that waits has its turn. */
let queue: Promise<void> = Promise.resolve()

/** The slice of one work. It begins when it is made. */
export class TimeSlice {
  #until = performance.now() + sliceMs

  /** Whether it is time to yield. */
  get isOver(): boolean {
    return performance.now() > this.#until
  }

  /** Waits for the next turn, with which the next slice begins. */
  async yield(): Promise<void> {
    queue = queue.then(() => new Promise(resolve => setImmediate(resolve)))
    await queue
    this.#until = performance.now() + sliceMs
  }
}

/** `items` mapped in order. Throws what `map` throws; then the rest is left undone. */
export async function mapYielding<T, R>(items: Iterable<T>, map: (item: T) => R): Promise<R[]> {
  const results: R[] = []
  const slice = new TimeSlice()
  for (const item of items) {
    if (slice.isOver) await slice.yield()
    results.push(map(item))
  }
  return results
}
