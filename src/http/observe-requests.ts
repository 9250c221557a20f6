/** Observes requests, for metrics, the access log and traces (D169). Without an observer no hook is added. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { prefixOf } from '../accounts/token.ts'
import type { RequestSpan, Traces } from '../tracing/tracing.ts'
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
  /** id of its trace; undefined if requests are not traced */
  readonly trace: string | undefined
}

export type RequestObserver = (request: SeenRequest) => void

export type Observers = {
  /** called with each request that was answered */
  readonly observers: readonly RequestObserver[]
  /** null without them */
  readonly traces: Traces | null
}

type Known = {
  readonly admitted: WeakMap<FastifyRequest, AuthenticatedRequest | AdmittedRequest>
  /** templates of all routes */
  readonly routes: ReadonlySet<string>
}

/** Must come before other hooks, which may ask the database. */
export function observeRequests(
  app: FastifyInstance,
  { observers, traces }: Observers,
  { admitted, routes }: Known,
): void {
  if (traces) traceRequests(app, traces, routes)
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
      trace: traceIdOf(request),
    }
    for (const observe of observers) observe(seen)
  })
}

type TracedRequest = FastifyRequest & { span?: RequestSpan | null }

function traceRequests(app: FastifyInstance, traces: Traces, routes: ReadonlySet<string>): void {
  app.decorateRequest('span', null)
  app.addHook('onRequest', (request: TracedRequest, { raw }, done) => {
    const { traceparent } = request.headers
    const header = typeof traceparent === 'string' ? traceparent : undefined
    const span = traces.beginRequest(methodOf(request), header)
    request.span = span
    // Comes also when the client hangs up.
    raw.once('close', () => {
      const route = routeOf(request, raw.statusCode, routes)
      const status = raw.headersSent ? raw.statusCode : null
      span.end({ route: routes.has(route) ? route : null, status })
    })
    span.run(done)
  })
}

/** The header that carries the request's trace on; null if requests are not traced. */
export function traceparentOf(request: FastifyRequest): string | null {
  return (request as TracedRequest).span?.traceparent ?? null
}

/** The id of the request's trace; undefined if requests are not traced. */
export function traceIdOf(request: FastifyRequest): string | undefined {
  return (request as TracedRequest).span?.traceId
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
