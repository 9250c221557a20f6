/**
 * Slows down those who guess passwords (D61): after some wrong ones for an e-mail, or from a network, the
 * next is taken only after a while, which doubles. Counted in this process, by a clock that nobody sets.
 */
import { Refusal } from '../errors.ts'

export type Throttle = {
  /**
   * Counts an attempt as wrong before its password is judged, so that many at once count too. Throws
   * `rate_limited`.
   */
  attempt(email: string, network: string): Attempt
}

export type Attempt = {
  /** The password was right. */
  succeeded(): void
  /** The password was not judged. */
  takeBack(): void
}

/** How many wrong passwords are free, and the longest wait after more. */
const ofEmail = { free: 10, waitMaxMs: 60_000 }
/** Many people may share a network. */
const ofNetwork = { free: 100, waitMaxMs: 10_000 }
/** After that time without an attempt, all is forgotten. */
const forgetMs = 3_600_000
/** How many e-mails or networks are counted apart. All others share one count. */
const keysMax = 100_000

/** `clock` gives milliseconds and, unlike the time of day, never goes back. */
export function throttle(clock: () => number): Throttle {
  const [emails, networks] = [attempts(clock, ofEmail), attempts(clock, ofNetwork)]
  return {
    attempt(email, network) {
      const waitMs = Math.max(emails.waitMs(email), networks.waitMs(network))
      if (waitMs > 0) {
        const seconds = Math.ceil(waitMs / 1000)
        const detail = `There were too many wrong passwords; the next is taken in ${seconds} s.`
        throw new Refusal('rate_limited', detail, [], { 'retry-after': String(seconds) })
      }
      emails.count(email)
      networks.count(network)
      return {
        succeeded() {
          emails.forget(email)
          networks.takeBack(network)
        },
        takeBack() {
          emails.takeBack(email)
          networks.takeBack(network)
        },
      }
    },
  }
}

type Attempts = { count: number; at: number }

function attempts(clock: () => number, { free, waitMaxMs }: { free: number; waitMaxMs: number }) {
  const counted = new Map<string, Attempts>()
  const keyOf = (key: string) => (counted.has(key) || counted.size < keysMax ? key : 'the rest')
  return {
    /** how long the next attempt has to wait */
    waitMs(key: string): number {
      const found = counted.get(keyOf(key))
      if (!found || found.count < free) return 0
      const wait = Math.min(waitMaxMs, 1000 * 2 ** Math.min(found.count - free, 20))
      return found.at + wait - clock()
    },
    count(key: string): void {
      const now = clock()
      // Whoever was counted last stands last.
      for (const [old, { at }] of counted) {
        if (at + forgetMs > now) break
        counted.delete(old)
      }
      const own = keyOf(key)
      const found = counted.get(own) ?? { count: 0, at: now }
      counted.delete(own)
      counted.set(own, { count: found.count + 1, at: now })
    },
    takeBack(key: string): void {
      const found = counted.get(keyOf(key))
      if (found) found.count--
    },
    forget(key: string): void {
      counted.delete(key)
    },
  }
}
