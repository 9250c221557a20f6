/**
 * Rate limit (D59): requests per minute and token, counted over the workers of a service. A request without a
 * valid token counts for its network.
 */
import { hashToken } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'
import { ownCounts, type SharedCounts } from '../waiting/shared-counts.ts'
import { networkOf } from './client.ts'

export type RateLimit = {
  /**
   * Counts a request of a valid token, or of its address. Returns the rate-limit headers
   * (draft-ietf-httpapi-ratelimit-headers). Throws `rate_limited`.
   */
  count(token: string | null, address: string): Record<string, string>
  /**
   * Throws `rate_limited`, and counts the request, if the network of an address has none left. Otherwise it
   * counts nothing.
   */
  refuseUsedUp(address: string): void
}

const windowMs = 60_000
/**
 * Maximum of networks with a count of their own. All others share one count. So a flood from many networks
 * neither fills the memory nor evicts counts.
 */
const networksMax = 100_000

/** `perMinute` 0: unlimited. `clock` is monotonic, in milliseconds. */
export function rateLimit(
  perMinute: number,
  clock: () => number,
  counts: SharedCounts = ownCounts,
): RateLimit {
  if (perMinute === 0) return { count: () => ({}), refuseUsedUp: () => {} }
  // Valid tokens are few, so they need no maximum.
  const tokens = windows(clock, Number.POSITIVE_INFINITY, counts, 'requests of a token')
  const networks = windows(clock, networksMax, counts, 'requests of a network')
  const limit: RateLimit = {
    count(token, address) {
      const window = token === null ? networks.add(networkOf(address)) : tokens.add(hashToken(token))
      const seconds = Math.ceil((window.endsAt - clock()) / 1000)
      const headers = {
        'ratelimit-policy': `"token";q=${perMinute};w=${windowMs / 1000}`,
        ratelimit: `"token";r=${Math.max(0, perMinute - window.count)};t=${seconds}`,
      }
      if (window.count <= perMinute) return headers
      const most = perMinute === 1 ? 'one request' : `${perMinute} requests`
      const detail = `The limit is ${most} a minute. Try again in ${seconds} s.`
      throw new Refusal('rate_limited', detail, [], { ...headers, 'retry-after': String(seconds) })
    },
    refuseUsedUp(address) {
      if (networks.count(networkOf(address)) >= perMinute) limit.count(null, address)
    },
  }
  return limit
}

type Window = { count: number; readonly endsAt: number }

type Windows = {
  /** Counts a request of a key. */
  add(key: string): Window
  /** the requests of a key in its window so far */
  count(key: string): number
}

/** Fixed-window counters: a key's window begins with its first request. */
function windows(clock: () => number, most: number, counts: SharedCounts, name: string): Windows {
  const open = new Map<string, Window>()
  const countedAs = (key: string) => (open.has(key) || open.size < most ? key : 'the rest')
  const added = (key: string, amount: number) => {
    const now = clock()
    // All windows have one length, so the oldest ends first.
    for (const [old, { endsAt }] of open) {
      if (endsAt > now) break
      open.delete(old)
    }
    const counted = countedAs(key)
    const window = open.get(counted) ?? { count: 0, endsAt: now + windowMs }
    window.count += amount
    open.set(counted, window)
    return window
  }
  counts.onAdded(name, added)
  return {
    add(key) {
      counts.add(name, key, 1)
      return added(key, 1)
    },
    count(key) {
      const window = open.get(countedAs(key))
      return window && window.endsAt > clock() ? window.count : 0
    },
  }
}
