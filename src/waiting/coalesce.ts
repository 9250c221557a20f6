/**
 * Coalesces calls: pending work is done once for all callers that requested it (D109). Keys, such as
 * accounts, take turns by a fair semaphore: each waits for one turn at most, even if another requests many.
 */
import { FairSemaphore } from './fair-semaphore.ts'

/**
 * Returns a function that requests `work` on a key. The work runs for `concurrency` keys at a time, and once
 * at a time for each. The promise settles when a run ends that began after the call, and throws its error.
 * `name`: what waits here, for diagnostics.
 */
export function coalesce<Key>(
  name: string,
  concurrency: number,
  work: (key: Key) => Promise<void>,
): (key: Key) => Promise<void> {
  const semaphore = new FairSemaphore<Key>({ name, permits: concurrency, permitsOf: () => 1 })
  const waiting = new Map<Key, Promise<void>>()
  const begin = async (key: Key) => {
    const release = await semaphore.acquire(key)
    waiting.delete(key)
    try {
      await work(key)
    } finally {
      release()
    }
  }
  return key => {
    const asked = waiting.get(key) ?? begin(key)
    waiting.set(key, asked)
    return asked
  }
}
