/**
 * How much one token may ask in a minute (D59), counted in this process. A request without a valid token
 * counts for the network it comes from.
 */
import { hashToken } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'
import { networkOf } from './network.ts'

export type RateLimit = {
  /**
   * Counts a request of a valid token, or of the address it comes from. Gives the headers that say how much
   * is left (draft-ietf-httpapi-ratelimit-headers). Throws `rate_limited`.
   */
  count(token: string | null, address: string): Record<string, string>
}

const windowMs = 60_000
/**
 * Networks that are counted one by one; more share a count, so that a flood takes no more memory and nobody's
 * count.
 */
const networksMax = 100_000

/** `perMinute` 0 = no limit. `clock` gives milliseconds and must not be set back, as the time of day is. */
export function rateLimit(perMinute: number, clock: () => number): RateLimit {
  if (perMinute === 0) return { count: () => ({}) }
  // There are only so many valid tokens.
  const tokens = windows(clock, Number.POSITIVE_INFINITY)
  const networks = windows(clock, networksMax)
  return {
    count(token, address) {
      const window = token === null ? networks(networkOf(address)) : tokens(hashToken(token))
      const seconds = Math.ceil((window.endsAt - clock()) / 1000)
      const headers = {
        'ratelimit-policy': `"token";q=${perMinute};w=${windowMs / 1000}`,
        ratelimit: `"token";r=${Math.max(0, perMinute - window.count)};t=${seconds}`,
      }
      if (window.count <= perMinute) return headers
      const detail = `At most ${perMinute} requests a minute; the next is taken in ${seconds} s.`
      throw new Refusal('rate_limited', detail, [], { ...headers, 'retry-after': String(seconds) })
    },
  }
}

type Window = { count: number; readonly endsAt: number }

/** Counts for a key in a window of time that begins with the key's first request. */
function windows(clock: () => number, most: number): (key: string) => Window {
  const open = new Map<string, Window>()
  return key => {
    const now = clock()
    // All windows are equally long: the first one made is the first to end.
    for (const [old, { endsAt }] of open) {
      if (endsAt > now) break
      open.delete(old)
    }
    const counted = open.has(key) || open.size < most ? key : 'the rest'
    const window = open.get(counted) ?? { count: 0, endsAt: now + windowMs }
    window.count++
    open.set(counted, window)
    return window
  }
}
