/**
 * Rate limit (D59): requests per minute and token, counted in this process. A request without a valid token
 * counts for its network.
 */
import { hashToken } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'
import { networkOf } from './client.ts'

export type RateLimit = {
  /**
   * Counts a request of a valid token, or of its address. Returns the rate-limit headers
   * (draft-ietf-httpapi-ratelimit-headers). Throws `rate_limited`.
   */
  count(token: string | null, address: string): Record<string, string>
}

const windowMs = 60_000
/**
 * Maximum of networks with a count of their own. All others share one count. So a flood from many networks
 * neither fills the memory nor evicts counts.
 */
const networksMax = 100_000

/** `perMinute` 0: unlimited. `clock` is monotonic, in milliseconds. */
export function rateLimit(perMinute: number, clock: () => number): RateLimit {
  if (perMinute === 0) return { count: () => ({}) }
  // Valid tokens are few, so they need no maximum.
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

/** Fixed-window counters: a key's window begins with its first request. */
function windows(clock: () => number, most: number): (key: string) => Window {
  const open = new Map<string, Window>()
  return key => {
    const now = clock()
    // All windows have one length, so the oldest ends first.
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
