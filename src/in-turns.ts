/** Long work cut into pieces, with turns for other requests between them. Knows nothing of the work. */

/** How long a piece may take. */
const pieceMs = 10

/** The end of the queue for a turn. Each turn of the event loop does one piece of one work. */
let queue: Promise<void> = Promise.resolve()

/** The results of `work` for each item, in order; the work is done in pieces. */
export async function inTurns<T, R>(items: Iterable<T>, work: (item: T) => R): Promise<R[]> {
  const results: R[] = []
  let until = performance.now() + pieceMs
  for (const item of items) {
    if (performance.now() > until) {
      await nextTurn()
      until = performance.now() + pieceMs
    }
    results.push(work(item))
  }
  return results
}

function nextTurn(): Promise<void> {
  queue = queue.then(() => new Promise(resolve => setImmediate(resolve)))
  return queue
}
