/**
 * A timeout: waits for a promise, but not longer than a time. Then the result is that of `late`, which may
 * throw. The promise's work goes on, and its late error is ignored.
 */
import { setTimeout as delay } from 'node:timers/promises'

export async function within<T, Late>(promise: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  const over = new AbortController()
  promise.catch(() => {})
  try {
    return await Promise.race([
      promise,
      delay(Math.max(0, ms), undefined, { signal: over.signal }).then(late),
    ])
  } finally {
    over.abort()
  }
}
