/**
 * Coalesces calls: work that has been asked for and not begun is done once for all who asked (D109). Keys,
 * such as accounts, take turns by a fair semaphore: so each waits for one turn at most, however often it is
 * asked for.
 */
import { FairSemaphore } from './fair-semaphore.ts'

/**
 * Returns a function that asks for `work` on a key. The work is done for `concurrency` keys at a time, and
 * once at a time for each. The promise settles when work ends that began after the call, and throws what that
 * threw.
 */
export function coalesce<Key>(
  concurrency: number,
  work: (key: Key) => Promise<void>,
): (key: Key) => Promise<void> {
  const semaphore = new FairSemaphore<Key>({ permits: concurrency, permitsOf: () => 1 })
  const waiting = new Map<Key, Promise<void>>()
  const begin = async (key: Key) => {
    const release = await semaphore.acquire(key)
    waiting.delete(key)
    await work(key).finally(release)
  }
  return key => {
    const asked = waiting.get(key) ?? begin(key)
    waiting.set(key, asked)
    return asked
  }
}
