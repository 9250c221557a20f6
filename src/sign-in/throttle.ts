/**
 * Slows down those who guess passwords (D61): after some wrong ones for an e-mail, or from a network, the
 * next is taken only after a while, which doubles. Counted in this process, by a clock that nobody sets.
 */
import { hash } from 'node:crypto'
import { Refusal } from '../errors.ts'

export type Throttle = {
  /**
   * Counts an attempt as wrong before its password is judged, so that many at once count too. Answers what
   * takes it back, for a password that was right or was not judged: all is as if there had been no attempt.
   * Throws `rate_limited`.
   */
  attempt(email: string, network: string): () => void
}

/** How many wrong passwords are free, and the longest wait after more. */
const ofEmail = { free: 10, waitMaxMs: 60_000 }
/** Many people may share a network. */
const ofNetwork = { free: 100, waitMaxMs: 10_000 }
/** After that time without a wrong password, all is forgotten. */
const forgetMs = 3_600_000
/** How many e-mails or networks are counted apart. All others share one count. */
const keysMax = 100_000
const theRest = 'the rest'

/** `clock` gives milliseconds and, unlike the time of day, never goes back. */
export function throttle(clock: () => number): Throttle {
  const [emails, networks] = [attempts(clock, ofEmail), attempts(clock, ofNetwork)]
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
      return () => {
        for (const takeBack of counted) takeBack()
      }
    },
  }
}

/**
 * Short, whatever is counted: the memory has an end in bytes too. And nobody can choose keys that a Map takes
 * long to tell apart: V8 hashes a long string by its length alone.
 */
function keyOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

type Attempts = { readonly count: number; readonly at: number }

function attempts(clock: () => number, { free, waitMaxMs }: { free: number; waitMaxMs: number }) {
  const counted = new Map<string, Attempts>()
  const placeOf = (key: string) => (counted.has(key) || counted.size < keysMax ? key : theRest)
  return {
    /** how long the next attempt has to wait */
    waitMs(key: string): number {
      const found = counted.get(placeOf(key))
      if (!found || found.count < free) return 0
      const wait = Math.min(waitMaxMs, 1000 * 2 ** Math.min(found.count - free, 20))
      return found.at + wait - clock()
    },
    /** counts an attempt; answers what takes it back */
    count(key: string): () => void {
      const now = clock()
      const isOver = ({ at }: Attempts) => at + forgetMs <= now
      // Whoever was counted last stands last.
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
        // The wait goes on from the last wrong password, unless somebody else has been counted meanwhile.
        else counted.set(place, { count: found.count - 1, at: found === own ? before!.at : found.at })
      }
    },
  }
}
