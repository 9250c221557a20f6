/**
 * Who may go on (D38, D107): the token, its rate, its scope and its account's share of what a process can do
 * at once are judged by the head of a request, before a byte of its body is read.
 */
import type { FastifyRequest } from 'fastify'
import type { Caller, Directory } from '../accounts/directory.ts'
import { Refusal } from '../errors.ts'
import type { RateLimit } from './rate-limit.ts'
import { type Supply, supply } from './share.ts'

export type Admitted = {
  readonly caller: Caller
  readonly token: string
  /** headers that say how many requests are left */
  readonly left: Readonly<Record<string, string>>
  /** Takes memory for the request, until it leaves. Throws `overloaded` when the account has its share. */
  hold(bytes: number): void
  /**
   * Waits until the account's others that wanted to be alone have left, and everybody else has had a turn.
   */
  beAlone(): Promise<void>
  /** Gives back what the request has taken, however often it is called. */
  leave(): void
}

export type Admission = {
  /** Throws `rate_limited`, `unauthenticated`, `forbidden`, `overloaded`. Who is admitted has to leave. */
  admit(request: FastifyRequest, scope: string): Promise<Admitted>
  /** Counts a request that no route takes, for its token or address. Throws `rate_limited`. */
  count(request: FastifyRequest): Promise<void>
}

export type AdmissionOptions = {
  readonly directory: Directory
  readonly rate: RateLimit
  readonly bodyLimitBytes: number
}

/** Requests that are carried out at the same time: with more, each would only wait longer. */
const underWayMax = 500
/** Bodies that are held at the same time, whether they have arrived or are being carried out. */
const bodiesBytes = 67_108_864

export function openAdmission({ directory, rate, bodyLimitBytes }: AdmissionOptions): Admission {
  const places = supply(underWayMax)
  const queues: Queues = new Map()
  const memory = supply(Math.max(bodiesBytes, 8 * bodyLimitBytes))
  /** Looks up and counts whoever asks. */
  const identify = async (request: FastifyRequest) => {
    const token = tokenOf(request)
    const caller = token === null ? null : await directory.caller(token)
    return { token, caller, left: rate.count(caller && token, request.ip) }
  }
  return {
    async admit(request, scope) {
      const { token, caller: found, left } = await identify(request)
      if (token === null) {
        throw new Refusal('unauthenticated', 'Send the token as "Authorization: Bearer <token>".')
      }
      const caller = allowed(found, scope)
      const account = caller.catalog.account.id
      if (!places.take(account, 1))
        throw overloaded('Too many requests are being carried out; try again in a moment.')
      return { caller, token, left, ...stay(account, places, memory, queues) }
    },
    count: async request => void (await identify(request)),
  }
}

/** Who asks (D38): 401 without a valid token, 403 when it lacks the route's scope. */
export function allowed(caller: Caller | null, scope: string): Caller {
  if (!caller) throw new Refusal('unauthenticated', 'The token is unknown, expired or revoked.')
  if (caller.scopes.has('admin') || caller.scopes.has(scope)) return caller
  throw new Refusal(
    'forbidden',
    `The token needs the scope ${scope}; it has ${[...caller.scopes].join(', ') || 'none'}.`,
  )
}

/** For each account the end of the last of those that want to be alone. */
type Queues = Map<number, Promise<void>>

function stay(
  account: number,
  places: Supply,
  memory: Supply,
  queues: Queues,
): Pick<Admitted, 'hold' | 'beAlone' | 'leave'> {
  let isGone = false
  let held = 0
  let goOn = () => {}
  return {
    hold(bytes) {
      if (!memory.take(account, bytes))
        throw overloaded('Too many large bodies are under way; try again in a moment.')
      held += bytes
    },
    async beAlone() {
      const { promise: left, resolve } = Promise.withResolvers<void>()
      const before = queues.get(account)
      const last = before ? before.then(() => left) : left
      queues.set(account, last)
      goOn = () => {
        if (queues.get(account) === last) queues.delete(account)
        resolve()
      }
      await before
      await new Promise(setImmediate)
    },
    leave() {
      if (isGone) return
      isGone = true
      goOn()
      places.giveBack(account, 1)
      memory.giveBack(account, held)
    },
  }
}

/** The token of a request; null without one. */
function tokenOf(request: FastifyRequest): string | null {
  const { authorization } = request.headers
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
  const token = bearer ?? (authorization === undefined ? request.headers['x-api-key'] : undefined)
  return typeof token === 'string' && token !== '' ? token : null
}

function overloaded(detail: string): Refusal {
  return new Refusal('overloaded', detail, [], { 'retry-after': '1' })
}
