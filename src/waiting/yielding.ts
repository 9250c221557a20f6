/**
 * Cooperative multitasking: long work is cut into slices of ten milliseconds and yields to the event loop
 * between them, so that other requests are answered (D103). Work that yields queues up in FIFO order: each
 * turn of the event loop runs one slice of one of them. It can't be cancelled; only its own error ends it
 * early.
 */
import { beginWait } from '../diagnostics.ts'

const sliceMs = 10

/** Resolves when the last waiting work has its turn. */
let queue: Promise<void> = Promise.resolve()

/** A time slice of one piece of work. It begins with the constructor. */
export class TimeSlice {
  #until = performance.now() + sliceMs

  /** True if it is time to yield. */
  get isOver(): boolean {
    return performance.now() > this.#until
  }

  /** Waits for the next turn, which begins the next slice. */
  async yield(): Promise<void> {
    queue = queue.then(() => new Promise(resolve => setImmediate(resolve)))
    const end = beginWait('event_loop')
    await queue
    end()
    this.#until = performance.now() + sliceMs
  }
}

/** Maps `items` in order. Throws the error of `map` and skips the rest. */
export async function mapYielding<T, R>(items: Iterable<T>, map: (item: T) => R): Promise<R[]> {
  const results: R[] = []
  const slice = new TimeSlice()
  for (const item of items) {
    if (slice.isOver) await slice.yield()
    results.push(map(item))
  }
  return results
}
