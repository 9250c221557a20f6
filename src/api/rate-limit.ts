/**
 * How many requests a token may send in a minute (D59), counted in this process. A request without a valid
 * token counts for the network it comes from.
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
 * How many networks have a count of their own. All others share one count. So a flood from many networks
 * neither fills the memory nor takes anybody's count away.
 */
const networksMax = 100_000

/** `perMinute` 0 = no limit. `clock` gives milliseconds and, unlike the time of day, never goes back. */
export function rateLimit(perMinute: number, clock: () => number): RateLimit {
  if (perMinute === 0) return { count: () => ({}) }
  // Valid tokens are few, so this needs no limit.
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
      const detail = `You may ask ${perMinute === 1 ? 'once' : `${perMinute} times`} a minute; the next is taken in ${seconds} s.`
      throw new Refusal('rate_limited', detail, [], { ...headers, 'retry-after': String(seconds) })
    },
  }
}

type Window = { count: number; readonly endsAt: number }

/** Counts for each key in a window of time, which begins with the first request of the key. */
function windows(clock: () => number, most: number): (key: string) => Window {
  const open = new Map<string, Window>()
  return key => {
    const now = clock()
    // All windows are equally long, so the oldest ends first.
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
