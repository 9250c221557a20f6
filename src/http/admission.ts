/**
 * Admission control (D38, D107): by token or session, rate limit, scope, and the account's share of the
 * process's capacity. It decides by the head of a request; no byte of the body is read before. The rights
 * are judged again once the body is there.
 */
import type { FastifyRequest } from 'fastify'
import type { AuthenticatedCaller, Callers } from '../accounts/callers.ts'
import { accountOf } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'
import { isOfCalendar } from '../rights/scopes.ts'
import { type Client, clientOf, refuseOtherSites } from './client.ts'
import { addressOf } from './proxies.ts'
import type { RateLimit } from './rate-limit.ts'
import { type Capacity, openCapacity, type Reservation } from './reservation.ts'

export type AuthenticatedRequest = AdmittedRequest & {
  readonly caller: AuthenticatedCaller
  /** secret of the token or session */
  readonly token: string
}

/** An admitted request: all that is known of one without a caller, such as a sign-in. */
export type AdmittedRequest = Reservation & {
  readonly client: Client
  /** rate-limit headers of the response */
  readonly rateLimitHeaders: Readonly<Record<string, string>>
}

export type Admission = {
  /**
   * Throws `rate_limited`, `unauthenticated`, `forbidden` or `overloaded`. The caller of `admit` must call
   * `release` at the request's end.
   */
  admit(request: FastifyRequest, scope: string): Promise<AuthenticatedRequest>
  /**
   * Admits a request that the service makes for the caller of an admitted one (D145): it is counted, and its
   * token and scope are judged, like any other. Throws and ends as `admit`.
   */
  admitAgain(admitted: AuthenticatedRequest, scope: string): Promise<AuthenticatedRequest>
  /**
   * The admitted request with the caller as known by now: a second at most after the caller has changed.
   * Throws `unauthenticated` or `forbidden`.
   */
  identifyAgain(admitted: AuthenticatedRequest, scope: string): Promise<AuthenticatedRequest>
  /** For routes where a token is optional. A token that is sent must be valid. */
  admitAnyone(request: FastifyRequest): Promise<AuthenticatedRequest | AdmittedRequest>
  /** For routes without a caller. The request counts for its address. */
  admitAnonymous(request: FastifyRequest): AdmittedRequest
  /** Counts a request without a route, for its token or address. Throws `rate_limited`. */
  count(request: FastifyRequest): Promise<void>
  /** The current caller of a token, read from the database. Throws `unauthenticated` or `forbidden`. */
  latest(token: string, scope: string): Promise<AuthenticatedCaller>
  /**
   * Checks the rights again. Throws `unauthenticated` or `forbidden` if they have ended, or what the caller
   * sees has changed.
   */
  askAgain(admitted: AuthenticatedRequest, scope: string): Promise<void>
}

export type AdmissionOptions = {
  readonly callers: Callers
  readonly rate: RateLimit
  /** where browsers reach the service; null: the origin that a request names */
  readonly publicUrl: string | null
  readonly bodyLimitBytes: number
}

export function openAdmission({ callers, rate, publicUrl, bodyLimitBytes }: AdmissionOptions): Admission {
  const { reserveFor, reserveForGuest } = openCapacity(bodyLimitBytes)
  const identify = identification({ callers, rate, publicUrl }, reserveForGuest)
  const admission: Admission = {
    async admit(request, scope) {
      const { token, isCookie, caller: found, client, rateLimitHeaders } = await identify(request)
      if (token === null) throw noToken()
      if (isCookie) {
        refuseOtherSites(request, client)
        if (!found) throw sessionEnded(client)
      }
      const caller = authorize(found, scope)
      return { caller, token, client, rateLimitHeaders, ...reserveFor(caller.catalog.account.id) }
    },
    async admitAgain({ token, client }, scope) {
      const found = await callers.identify(token)
      const rateLimitHeaders = rate.count(found && token, client.address)
      const caller = authorize(found, scope)
      return { caller, token, client, rateLimitHeaders, ...reserveFor(caller.catalog.account.id) }
    },
    async identifyAgain(admitted, scope) {
      const found = await callers.identify(admitted.token)
      if (!found && admitted.caller.session) throw sessionEnded(admitted.client)
      return { ...admitted, caller: authorize(found, scope) }
    },
    admitAnonymous(request) {
      const client = clientOf(request, publicUrl)
      const rateLimitHeaders = rate.count(null, addressOf(request))
      refuseOtherSites(request, client)
      return { client, rateLimitHeaders, ...reserveForGuest(client.network) }
    },
    admitAnyone: async request => {
      const { authorization, 'x-api-key': key } = request.headers
      const isKnown = authorization || key || clientOf(request, publicUrl).session !== null
      return isKnown ? admission.admit(request, 'any') : admission.admitAnonymous(request)
    },
    count: async request => void (await identify(request)),
    latest: async (token, scope) => authorize(await callers.identifyNow(token), scope),
    async askAgain({ token, caller }, scope) {
      const now = await admission.latest(token, scope)
      if (!seesTheSame(now, caller))
        throw new Refusal('forbidden', 'Your rights have changed meanwhile: send the request again.')
    },
  }
  return admission
}

/** Returns a function that identifies the caller of a request, and counts the request. */
function identification(
  { callers, rate, publicUrl }: Omit<AdmissionOptions, 'bodyLimitBytes'>,
  reserveForGuest: Capacity['reserveForGuest'],
) {
  /**
   * Looks up an unknown secret as the guest that whoever sends it is until then: where the network has no
   * request or no place left, it costs no query.
   */
  const identifyGuest = async (token: string, { address, network }: Client) => {
    rate.refuseUsedUp(address)
    const { release } = reserveForGuest(network)
    try {
      return await callers.identify(token)
    } finally {
      release()
    }
  }
  return async (request: FastifyRequest) => {
    const client = clientOf(request, publicUrl)
    const { token, isCookie } = credentialOf(request, client)
    const caller =
      token === null ? null : await (callers.identifyKnown(token) ?? identifyGuest(token, client))
    return {
      token,
      isCookie,
      caller,
      client,
      rateLimitHeaders: rate.count(caller && token, addressOf(request)),
    }
  }
}

/** Authorizes a caller (D38): 401 without a valid token, 403 if it lacks the route's scope. */
export function authorize(caller: AuthenticatedCaller | null, scope: string): AuthenticatedCaller {
  if (!caller)
    throw new Refusal(
      'unauthenticated',
      'The token is unknown, expired or revoked. POST /rest/api/v1/token makes another, as does "dealwright token create".',
    )
  if (scope !== 'any') caller.rights.need(scope)
  else if (isOfCalendar(caller.rights.scopes))
    throw new Refusal('forbidden', 'The secret of a calendar reads its feed, and nothing else.')
  return caller
}

/** True if everything that decides what the caller sees is unchanged. */
function seesTheSame(one: AuthenticatedCaller, other: AuthenticatedCaller): boolean {
  const [params, before] = [one, other].map(({ rights: { scopes, role }, territories }) =>
    JSON.stringify([[...scopes].sort(), role.visibility, role.hidden_fields, territories]),
  )
  return params === before
}

/** The token of a request, else the session of its cookie. A session is accepted from the cookie only. */
function credentialOf(
  { headers }: FastifyRequest,
  { session }: Client,
): { token: string | null; isCookie: boolean } {
  const { authorization } = headers
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
  const sent = bearer ?? (authorization === undefined ? headers['x-api-key'] : undefined)
  if (authorization === undefined && sent === undefined) return { token: session, isCookie: session !== null }
  const isToken = typeof sent === 'string' && sent !== '' && accountOf('session', sent) === null
  return { token: isToken ? sent : null, isCookie: false }
}

function noToken(): Refusal {
  return new Refusal(
    'unauthenticated',
    'Send the token as "Authorization: Bearer <token>", or sign in with POST /rest/api/v1/session.',
  )
}

function sessionEnded(client: Client): Refusal {
  const cookie = client.setCookie('session', '', 0)
  return new Refusal('unauthenticated', 'The session has ended; sign in again.', [], { 'set-cookie': cookie })
}
