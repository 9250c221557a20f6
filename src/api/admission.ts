/**
 * Decides which requests go on (D38, D107): by token or session, rate limit, scope, and the account's share
 * of what a process can do at once. The head of the request is enough for this; not a byte of the body is
 * read before.
 */
import type { FastifyRequest } from 'fastify'
import type { Caller, Callers } from '../accounts/callers.ts'
import { accountOf } from '../accounts/token.ts'
import { Refusal } from '../errors.ts'
import { KeyedMutex } from '../waiting/keyed-mutex.ts'
import { type Quota, quota } from '../waiting/quota.ts'
import type { RateLimit } from './rate-limit.ts'
import { refuseOtherSites, type Visitor, visitorOf } from './visitor.ts'

export type Admitted = Guest & {
  readonly caller: Caller
  /** the secret of the token or session */
  readonly token: string
}

/** A request that goes on without a caller: somebody is about to sign in. */
export type Guest = Stay & {
  readonly visitor: Visitor
  /** response headers that say how many requests are left */
  readonly left: Readonly<Record<string, string>>
}

export type Stay = {
  /**
   * Takes memory for the request until `leave`. Throws `overloaded` when the account already has its share.
   */
  hold(bytes: number): void
  /**
   * Waits until no other request of the account is alone, and until the event loop has served everybody else.
   */
  beAlone(): Promise<void>
  /** Gives back what the request has taken, however often it is called. */
  leave(): void
}

export type Admission = {
  /**
   * Throws `rate_limited`, `unauthenticated`, `forbidden` or `overloaded`. Whoever admits a request must call
   * `leave` at its end.
   */
  admit(request: FastifyRequest, scope: string): Promise<Admitted>
  /** A request that may come without a token is a guest's then. With one, the token must be valid. */
  admitAnyone(request: FastifyRequest): Promise<Admitted | Guest>
  /** The same for a request that needs no caller. It counts for its address. */
  admitGuest(request: FastifyRequest): Guest
  /** Counts a request that no route takes, for its token or address. Throws `rate_limited`. */
  count(request: FastifyRequest): Promise<void>
  /** The caller of a token as the database knows them now. Throws `unauthenticated` or `forbidden`. */
  latest(token: string, scope: string): Promise<Caller>
  /** Throws `unauthenticated` or `forbidden` where the caller has ended since, or sees something else. */
  askAgain(admitted: Admitted, scope: string): Promise<void>
}

export type AdmissionOptions = {
  readonly callers: Callers
  readonly rate: RateLimit
  /** where browsers reach the service; null: whatever a request calls it */
  readonly publicUrl: string | null
  readonly bodyLimitBytes: number
}

/** How many requests are carried out at the same time. More would only make each wait longer. */
const underWayMax = 500
/** How many bytes of bodies are held at the same time, while they arrive and while they are carried out. */
const bodiesBytes = 67_108_864

export function openAdmission({ callers, rate, publicUrl, bodyLimitBytes }: AdmissionOptions): Admission {
  const requests = quota(underWayMax)
  const alone = new KeyedMutex<number>()
  const memory = quota(Math.max(bodiesBytes, 8 * bodyLimitBytes))
  /** Looks up and counts whoever asks. */
  const identify = async (request: FastifyRequest) => {
    const visitor = visitorOf(request, publicUrl)
    const { token, isCookie } = credentialOf(request, visitor)
    const caller = token === null ? null : await callers.identify(token)
    return { token, isCookie, caller, visitor, left: rate.count(caller && token, request.ip) }
  }
  const stayOf = (account: number) => {
    if (!requests.take(account, 1))
      throw overloaded('Too many requests are being carried out; try again in a moment.')
    return stay(account, requests, memory, alone)
  }
  const admission: Admission = {
    async admit(request, scope) {
      const { token, isCookie, caller: found, visitor, left } = await identify(request)
      if (token === null) {
        throw new Refusal(
          'unauthenticated',
          'Send the token as "Authorization: Bearer <token>", or sign in with POST /rest/api/v1/session.',
        )
      }
      if (isCookie) {
        refuseOtherSites(request, visitor)
        if (!found) throw sessionEnded(visitor)
      }
      const caller = allowed(found, scope)
      return { caller, token, visitor, left, ...stayOf(caller.catalog.account.id) }
    },
    admitGuest(request) {
      const visitor = visitorOf(request, publicUrl)
      const left = rate.count(null, request.ip)
      refuseOtherSites(request, visitor)
      return { visitor, left, ...stayOf(guests) }
    },
    admitAnyone: async request => {
      const { authorization, 'x-api-key': key } = request.headers
      const isKnown = authorization || key || visitorOf(request, publicUrl).session !== null
      return isKnown ? admission.admit(request, 'any') : admission.admitGuest(request)
    },
    count: async request => void (await identify(request)),
    latest: async (token, scope) => allowed(await callers.identifyNow(token), scope),
    async askAgain({ token, caller }, scope) {
      const now = await admission.latest(token, scope)
      if (!seesTheSame(now, caller))
        throw new Refusal('forbidden', 'What you see has changed meanwhile: ask again.')
    },
  }
  return admission
}

/** Guests share as an account would. */
const guests = 0

/** Who asks (D38): 401 without a valid token, 403 when it lacks the route's scope. */
export function allowed(caller: Caller | null, scope: string): Caller {
  if (!caller)
    throw new Refusal(
      'unauthenticated',
      'The token is unknown, expired or revoked. POST /rest/api/v1/token makes another, as does "dealwright token create".',
    )
  if (scope !== 'any') caller.rights.need(scope)
  return caller
}

/** Whether nothing has changed of what decides what a caller sees. */
function seesTheSame(one: Caller, other: Caller): boolean {
  const [sight, before] = [one, other].map(({ rights: { scopes, role }, territories }) =>
    JSON.stringify([[...scopes].sort(), role.visibility, role.hidden_fields, territories]),
  )
  return sight === before
}

function stay(account: number, requests: Quota, memory: Quota, alone: KeyedMutex<number>): Stay {
  let isGone = false
  let held = 0
  let unlock = () => {}
  return {
    hold(bytes) {
      if (!memory.take(account, bytes))
        throw overloaded('Too many large bodies are under way; try again in a moment.')
      held += bytes
    },
    async beAlone() {
      unlock = await alone.lock(account)
      await new Promise(setImmediate)
    },
    leave() {
      if (isGone) return
      isGone = true
      unlock()
      requests.release(account, 1)
      memory.release(account, held)
    },
  }
}

/** The token of a request, else the session of its cookie. A session is taken from the cookie only. */
function credentialOf(
  { headers }: FastifyRequest,
  { session }: Visitor,
): { token: string | null; isCookie: boolean } {
  const { authorization } = headers
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
  const sent = bearer ?? (authorization === undefined ? headers['x-api-key'] : undefined)
  if (authorization === undefined && sent === undefined) return { token: session, isCookie: session !== null }
  const isToken = typeof sent === 'string' && sent !== '' && accountOf('session', sent) === null
  return { token: isToken ? sent : null, isCookie: false }
}

function sessionEnded(visitor: Visitor): Refusal {
  const cookie = visitor.setCookie('session', '', 0)
  return new Refusal('unauthenticated', 'The session has ended; sign in again.', [], { 'set-cookie': cookie })
}

function overloaded(detail: string): Refusal {
  return new Refusal('overloaded', detail, [], { 'retry-after': '1' })
}
