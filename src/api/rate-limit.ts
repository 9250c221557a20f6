/** How much one token may ask in a minute (D59), counted in this process. Requests without a valid token count for their address; those that no route takes, or whose body can't be read, for nobody. */
import { hashToken } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'

export type RateLimit<R> = {
  /** Counts a request; the headers that say how much is left (draft-ietf-httpapi-ratelimit-headers). Throws `rate_limited`. */
  count(request: R, token: string | null): Promise<Record<string, string>>
}

/** What counts requests by a key in windows of time: @fastify/rate-limit's. */
type CreateCounter<R> = (options: {
  max: number
  timeWindow: number
  keyGenerator: (request: R) => string
}) => (
  request: R,
) => Promise<
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly isExceeded: boolean; readonly remaining: number; readonly ttlInSeconds: number }
>

const windowSeconds = 60

/** `perMinute` 0 = no limit. The counter is made with the first request, when the plugin is there. */
export function rateLimit<R extends { readonly ip: string }>(createCounter: CreateCounter<R>, perMinute: number): RateLimit<R> {
  if (perMinute === 0) return { count: async () => ({}) }
  const keys = new WeakMap<R, string>()
  let check: ReturnType<CreateCounter<R>> | undefined
  return {
    count: async (request, token) => {
      check ??= createCounter({
        max: perMinute,
        timeWindow: windowSeconds * 1000,
        keyGenerator: asked => keys.get(asked) ?? asked.ip,
      })
      keys.set(request, token === null ? `address ${request.ip}` : `token ${hashToken(token)}`)
      const counted = await check(request)
      if (counted.isAllowed) return {}
      const { remaining, ttlInSeconds } = counted
      const headers = {
        'ratelimit-policy': `"token";q=${perMinute};w=${windowSeconds}`,
        ratelimit: `"token";r=${remaining};t=${ttlInSeconds}`,
      }
      if (!counted.isExceeded) return headers
      const detail = `At most ${perMinute} requests a minute; the next is taken in ${ttlInSeconds} s.`
      throw new Refusal('rate_limited', detail, [], { ...headers, 'retry-after': String(ttlInSeconds) })
    },
  }
}
