/**
 * The only wiring: database, callers and routes become an HTTP service. Everything a request passes on its
 * way stands here in order.
 */
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { Callers } from './accounts/callers.ts'
import { BackgroundJobs } from './administration/background-jobs.ts'
import { type Admission, type Admitted, type Guest, openAdmission } from './api/admission.ts'
import { type Answer, problemAnswer, securityHeaders } from './api/answer.ts'
import { bodyLimit, readBody } from './api/body.ts'
import { arrivalTimes, Connections } from './api/connections.ts'
import { allowOrigins } from './api/cross-origin.ts'
import { OpenId } from './api/openid.ts'
import { openPipeline, type Pipeline } from './api/pipeline.ts'
import { rateLimit } from './api/rate-limit.ts'
import { refusalOf, refuseOtherThanJson } from './api/refusals.ts'
import { type ApiRequest, hangUpOf, idempotencyOf, readJson, readQuery, requestId } from './api/request.ts'
import { type AccountRoute, type GuestRoute, type PublicRoute, routes } from './api/routes.ts'
import { transferred } from './api/transfer.ts'
import { Paths } from './api/wrong-path.ts'
import { limits as defaultLimits, type Limits, type OpenIdSettings } from './config.ts'
import type { Database } from './db/open.ts'
import { resources } from './resources.ts'
import { Hashing } from './sign-in/hashing.ts'
import { SignIn } from './sign-in/sign-in.ts'
import { throttle } from './sign-in/throttle.ts'

export type AppOptions = {
  db: Database
  now: () => Date
  /** milliseconds that go on whatever is done to the time of day */
  clock?: () => number
  log: Logger
  limits?: Partial<Limits>
  /** the origin under which browsers reach the service */
  publicUrl?: string | null
  /** origins whose pages may ask the service, by a token */
  corsOrigins?: readonly string[]
  openId?: OpenIdSettings | null
  /** how passwords are hashed */
  hashing?: Hashing
}

/** The service, not yet listening. */
export function buildApp({
  db,
  now,
  clock = () => performance.now(),
  log,
  limits: given = {},
  publicUrl = null,
  corsOrigins = [],
  openId = null,
  hashing = new Hashing(),
}: AppOptions): FastifyInstance {
  const limits = { ...defaultLimits, ...given }
  const { retentionDays, bodyLimitBytes, requestTimeoutMs } = limits
  const say = (line: string) => log.warn(line)
  const app = httpServer(log, requestTimeoutMs, {
    connection: (error, socket) => connections.refuse(error, socket),
    // A path that can't be read has no route, and no hook of one.
    path: (error, request, reply) => {
      const answer = (refused: unknown) => refuse(refused, request, reply, connections)
      void admission.count(request).then(() => answer(error), answer)
    },
  })
  const callers = new Callers(db, resources, clock)
  const connections = new Connections(app.server, limits, say)
  const admission = openAdmission({
    callers,
    rate: rateLimit(limits.rateLimit, clock),
    publicUrl,
    bodyLimitBytes,
  })
  const jobs = new BackgroundJobs({ db, resources, now, log: say, retentionDays })
  app.addHook('onClose', async () => jobs.stop())
  const signIn = new SignIn({ db, callers, hashing, throttle: throttle(clock) })
  const provider = openId && publicUrl ? new OpenId(openId, publicUrl, clock, say) : null
  const table = routes(db, callers, jobs, retentionDays, signIn, provider)
  const service: Service = {
    now,
    admission,
    connections,
    pipeline: openPipeline(db, callers),
    admitted: new WeakMap(),
  }
  allowOrigins(app, corsOrigins)
  refuseWrongPaths(app, new Paths(table), admission)
  takeJsonBodies(app, service, bodyLimitBytes)
  for (const route of table) {
    if ('guest' in route) addGuestRoute(app, route, service)
    else if (route.scope === 'public') addPublicRoute(app, route, service)
    else addAccountRoute(app, route, service)
  }
  app.setErrorHandler((error, request, reply) => {
    service.admitted.get(request)?.leave()
    return refuse(error, request, reply, connections)
  })
  return app
}

function refuseWrongPaths(app: FastifyInstance, paths: Paths, admission: Admission): void {
  // After the hook of origins, so that their pages may read these refusals, too.
  app.after(() =>
    app.addHook('onRequest', async request => {
      const path = request.raw.url!.split('?', 1)[0]!
      if (!request.is404 && !paths.isMistaken(request.routeOptions.url, path)) return
      await admission.count(request)
      throw paths.refusal(request.method, path)
    }),
  )
}

/** How requests are refused that no route gets. */
type Refusals = {
  connection(error: Error, socket: Socket): void
  path(error: Error, request: FastifyRequest, reply: FastifyReply): void
}

function httpServer(log: Logger, requestTimeoutMs: number, refusals: Refusals): FastifyInstance {
  return Fastify({
    // A request has to arrive in that time; what it asks for is limited by the database.
    requestTimeout: requestTimeoutMs,
    http: arrivalTimes(requestTimeoutMs),
    // While the service stops, connections that are open are still answered.
    return503OnClosing: false,
    clientErrorHandler: refusals.connection,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: request => requestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: refusals.path,
  })
}

/** What the requests of a process have in common. */
type Service = {
  readonly now: () => Date
  readonly admission: Admission
  readonly connections: Connections
  readonly pipeline: Pipeline
  /** the requests of accounts, and of guests */
  readonly admitted: WeakMap<FastifyRequest, Admitted | Guest>
}

/** A larger body keeps the process busy for a moment (D103). */
const largeBytes = 65_536

function takeJsonBodies(app: FastifyInstance, { admitted }: Service, bodyLimitBytes: number): void {
  const anyBody = bodyLimit(bodyLimitBytes)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { hold, beAlone } = admitted.get(request)!
    const { bodyLimit: own = anyBody } = request.routeOptions.config as Pick<AccountRoute, 'bodyLimit'>
    const bytes = await readBody(request.raw, own.bytes < anyBody.bytes ? own : anyBody, hold)
    if (bytes.length > largeBytes) await beAlone()
    return readJson(bytes)
  })
}

function addPublicRoute(
  app: FastifyInstance,
  { method, url, handler }: PublicRoute,
  { connections }: Service,
): void {
  app.route({
    method,
    url,
    handler: async (request, reply) => {
      refuseOtherThanJson(request)
      return send(reply, request, await handler(), connections)
    },
  })
}

/** Somebody signs in: no caller is known, all else is as for an account's route. */
function addGuestRoute(
  app: FastifyInstance,
  { method, url, bodyLimit, guest }: GuestRoute,
  { admission, admitted, connections }: Service,
): void {
  app.route({
    method,
    url,
    config: { bodyLimit },
    onRequest: async request => {
      admitted.set(request, admission.admitGuest(request))
      refuseOtherThanJson(request)
    },
    handler: async (request, reply) => {
      const { visitor, left, leave } = admitted.get(request)!
      try {
        const address = request.raw.url!
        const body = request.body as ApiRequest['body']
        const answer = await guest({ url: address, query: readQuery(address), body, visitor })
        return send(reply, request, { ...answer, headers: { ...answer.headers, ...left } }, connections)
      } finally {
        leave()
      }
    },
  })
}

function addAccountRoute(app: FastifyInstance, route: AccountRoute, service: Service): void {
  const { method, url, scope, bodyLimit, handler } = route
  const { admission, admitted, connections, pipeline } = service
  if (!scope) throw new Error(`${method} ${url} names no scope`)
  app.route({
    method,
    url,
    config: { bodyLimit },
    onRequest: async request => {
      admitted.set(request, await admission.admit(request, scope))
      connections.trust(request.raw.socket)
      refuseOtherThanJson(request)
    },
    handler: async (request, reply) => {
      const caller = admitted.get(request) as Admitted
      try {
        const answer = await pipeline.answer(
          requestOf(route, caller, request, reply, service.now()),
          scope,
          handler,
        )
        return send(
          reply,
          request,
          { ...answer, headers: { ...answer.headers, ...caller.left } },
          connections,
        )
      } finally {
        caller.leave()
      }
    },
  })
}

/** A request as handlers know it. */
function requestOf(
  { method, scope }: AccountRoute,
  { caller, token, visitor }: Admitted,
  request: FastifyRequest,
  reply: FastifyReply,
  now: Date,
): ApiRequest {
  const url = request.raw.url!
  const params = request.params as { id?: string; option?: string }
  const body = request.body as ApiRequest['body']
  const { 'idempotency-key': key, 'if-match': ifMatch } = request.headers
  return {
    caller,
    token,
    path: url.split('?', 1)[0]!,
    id: params.id ?? '',
    option: params.option ?? '',
    query: readQuery(url),
    body,
    ifMatch,
    idempotency:
      scope.endsWith(':write') || scope === 'admin'
        ? idempotencyOf(key, caller, [method, url, ifMatch, body])
        : null,
    now,
    visitor,
    hungUp: () => hangUpOf(reply.raw),
  }
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, connections: Connections) {
  const refusal = refusalOf(error)
  if (!refusal) request.log.error({ err: error }, 'request failed')
  return send(reply, request, problemAnswer(refusal ?? error, request.id), connections)
}

async function send(
  reply: FastifyReply,
  request: FastifyRequest,
  answer: Answer,
  connections: Connections,
): Promise<FastifyReply> {
  connections.answer(request.raw, reply.raw)
  const vary = String(reply.getHeader('vary') ?? '')
  const { status, headers, body } = await transferred(answer, request, vary)
  const type = 'application/json; charset=utf-8'
  return reply
    .code(status)
    .headers({ ...securityHeaders, 'content-type': type, 'x-request-id': request.id, ...headers })
    .send(body)
}
