/** Observes answered requests, for metrics and the access log. Nobody observes: no hook is added. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { prefixOf } from '../accounts/token.ts'
import type { AdmittedRequest, AuthenticatedRequest } from './admission.ts'
import { addressOf } from './proxies.ts'

/** A request that was answered, without any value of it. */
export type SeenRequest = {
  readonly id: string
  readonly method: string
  /** template of its route; `web` for the files of the web UI, `none` without a route */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** address of the client, by the proxies that are trusted */
  readonly address: string
  readonly account: number | null
  readonly user: number | null
  /** prefix of the token; null for a session */
  readonly token: string | null
}

export type RequestObserver = (request: SeenRequest) => void

type Known = {
  readonly admitted: WeakMap<FastifyRequest, AuthenticatedRequest | AdmittedRequest>
  /** templates of all routes */
  readonly routes: ReadonlySet<string>
}

export function observeRequests(
  app: FastifyInstance,
  observers: readonly RequestObserver[],
  { admitted, routes }: Known,
): void {
  if (observers.length === 0) return
  app.addHook('onResponse', async (request, reply) => {
    const who = admitted.get(request)
    const caller = who && 'caller' in who ? who.caller : null
    const seen: SeenRequest = {
      id: request.id,
      method: methodOf(request),
      route: routeOf(request, reply.statusCode, routes),
      status: reply.statusCode,
      ms: reply.elapsedTime,
      address: addressOf(request),
      account: caller?.catalog.account.id ?? null,
      user: caller?.actor ?? null,
      token: caller?.token && who && 'token' in who ? prefixOf(who.token) : null,
    }
    for (const observe of observers) observe(seen)
  })
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Methods are words of the client: an unknown one gets no label of its own. */
function methodOf({ method }: FastifyRequest): string {
  return methods.includes(method) ? method : 'other'
}

/** Files of the web UI have a route each, whose names change with every build. */
function routeOf({ routeOptions }: FastifyRequest, status: number, routes: ReadonlySet<string>): string {
  const { url } = routeOptions
  if (url !== undefined && routes.has(url)) return url
  return status < 400 ? 'web' : 'none'
}
