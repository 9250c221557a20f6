/**
 * Throttles password guessing (D61): after some wrong passwords for an e-mail, or from a network, the wait
 * doubles (exponential backoff). Counted over the workers of a service, by a monotonic clock.
 */
import { hash } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import { ownCounts, type SharedCounts } from '../../waiting/shared-counts.ts'

/** Ends an attempt: a count stays, and other processes learn of it, only if the password was wrong. */
type Settle = (isWrong: boolean) => void

export type Throttle = {
  /**
   * Counts an attempt as wrong before its password is checked, so that concurrent ones count too. Throws
   * `rate_limited`.
   */
  attempt(email: string, network: string): Settle
}

/** Wrong passwords without a wait, and the maximum wait after more. */
const ofEmail = { free: 10, waitMaxMs: 60_000 }
/** Higher, as many people may share a network. */
const ofNetwork = { free: 100, waitMaxMs: 10_000 }
/** After this time without a wrong password, the count is reset. */
const forgetMs = 3_600_000
/** Maximum of e-mails or networks with a count of their own. All others share one count. */
const keysMax = 100_000
const theRest = 'the rest'

/** `clock` is monotonic, in milliseconds. */
export function throttle(clock: () => number, counts: SharedCounts = ownCounts): Throttle {
  const emails = attempts(clock, ofEmail, counts, 'wrong passwords of an e-mail')
  const networks = attempts(clock, ofNetwork, counts, 'wrong passwords of a network')
  return {
    attempt(email, network) {
      const keys = [keyOf(email), keyOf(network)] as const
      const waitMs = Math.max(emails.waitMs(keys[0]), networks.waitMs(keys[1]))
      if (waitMs > 0) {
        const seconds = Math.ceil(waitMs / 1000)
        const detail = `There were too many wrong passwords; the next is taken in ${seconds} s.`
        throw new Refusal('rate_limited', detail, [], { 'retry-after': String(seconds) })
      }
      const counted = [emails.count(keys[0]), networks.count(keys[1])]
      return isWrong => {
        for (const settle of counted) settle(isWrong)
      }
    },
  }
}

/**
 * A hash of fixed length: limits the memory, and prevents hash flooding, as V8 hashes a long string by its
 * length alone.
 */
function keyOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

type Attempts = { readonly count: number; readonly at: number }

function attempts(
  clock: () => number,
  { free, waitMaxMs }: { free: number; waitMaxMs: number },
  counts: SharedCounts,
  name: string,
) {
  const counted = new Map<string, Attempts>()
  const placeOf = (key: string) => (counted.has(key) || counted.size < keysMax ? key : theRest)
  /** counts an attempt; returns a function that undoes it */
  const counting = (key: string): (() => void) => {
    const now = clock()
    const isOver = ({ at }: Attempts) => at + forgetMs <= now
    // The Map is ordered by the last attempt.
    for (const [old, found] of counted) {
      if (!isOver(found)) break
      counted.delete(old)
    }
    const place = placeOf(key)
    const before = counted.get(place)
    const own = { count: before && !isOver(before) ? before.count + 1 : 1, at: now }
    counted.delete(place)
    counted.set(place, own)
    return () => {
      const found = counted.get(place)
      if (!found) return
      if (found.count <= 1) counted.delete(place)
      // The wait continues from the last wrong password, unless another attempt was counted meanwhile.
      else counted.set(place, { count: found.count - 1, at: found === own ? before!.at : found.at })
    }
  }
  counts.onAdded(name, (key, amount) => {
    for (let more = amount; more > 0; more--) counting(key)
  })
  return {
    /** wait before the next attempt, in milliseconds */
    waitMs(key: string): number {
      const found = counted.get(placeOf(key))
      if (!found || found.count < free) return 0
      const wait = Math.min(waitMaxMs, 1000 * 2 ** Math.min(found.count - free, 20))
      return found.at + wait - clock()
    },
    count(key: string): Settle {
      const takeBack = counting(key)
      return isWrong => (isWrong ? counts.add(name, key, 1) : takeBack())
    },
  }
}
