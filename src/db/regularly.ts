/** Work on the database that is done again and again in the background. */
import type { Log } from './open.ts'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

export type Regular = { stop(): void }

/**
 * Acts every so often, unless it is still at it; `what` says in the log what failed. A database that is not
 * available is no failure: it is tried again. The timer does not keep the process alive.
 */
export function regularly(everyMs: number, act: () => Promise<unknown>, what: string, log: Log): Regular {
  let isActing = false
  const actAlone = async () => {
    if (isActing) return
    isActing = true
    try {
      await act()
    } catch (error) {
      if (!(asUnavailable(error) instanceof DatabaseUnavailable)) log(`${what} failed: ${error}`)
    } finally {
      isActing = false
    }
  }
  const timer = setInterval(() => void actAlone(), everyMs).unref()
  return { stop: () => clearInterval(timer) }
}
