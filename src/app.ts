/**
 * The only wiring: database, directory and routes become an HTTP service. Everything a request passes on its
 * way stands here in order.
 */
import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { openDirectory } from './accounts/directory.ts'
import { startUpkeep } from './administration/upkeep.ts'
import { type Admission, type Admitted, openAdmission } from './api/admission.ts'
import { type Answer, problemAnswer, securityHeaders } from './api/answer.ts'
import { bodyLimit, readBody } from './api/body.ts'
import { arrivalTimes, type Connections, watchConnections } from './api/connections.ts'
import { openPipeline, type Pipeline } from './api/pipeline.ts'
import { rateLimit } from './api/rate-limit.ts'
import { notFound, refusalOf, refuseOtherThanJson } from './api/refusals.ts'
import { type ApiRequest, hangUpOf, onceOf, readJson, readQuery } from './api/request.ts'
import { type AccountRoute, type PublicRoute, routes } from './api/routes.ts'
import { limits as defaultLimits, type Limits } from './config.ts'
import type { Database } from './db/open.ts'
import { resources } from './resources.ts'

export type AppOptions = {
  db: Database
  now: () => Date
  /** milliseconds that go on whatever is done to the time of day */
  clock?: () => number
  log: Logger
  limits?: Partial<Limits>
}

/** The service, not yet listening. */
export function buildApp({
  db,
  now,
  clock = () => performance.now(),
  log,
  limits: given = {},
}: AppOptions): FastifyInstance {
  const limits = { ...defaultLimits, ...given }
  const { retentionDays, bodyLimitBytes, requestTimeoutMs } = limits
  const anyBody = bodyLimit(bodyLimitBytes)
  const say = (line: string) => log.warn(line)
  const app: FastifyInstance = Fastify({
    // A request has to arrive in that time; what it asks for is limited by the database.
    requestTimeout: requestTimeoutMs,
    http: arrivalTimes(requestTimeoutMs),
    // While the service stops, connections that are open are still answered.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: request => requestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: 200 },
    // A path that can't be read has no route, and no hook of one.
    frameworkErrors: (error, request, reply) => {
      const counted = admission.count(request)
      void counted.then(
        () => refuse(error, request, reply, connections),
        refused => refuse(refused, request, reply, connections),
      )
    },
  })
  const directory = openDirectory(db, resources, clock)
  const connections = watchConnections(app.server, limits, say)
  const admission = openAdmission({ directory, rate: rateLimit(limits.rateLimit, clock), bodyLimitBytes })
  const upkeep = startUpkeep({ db, resources, now, log: say, retentionDays })
  app.addHook('onClose', async () => upkeep.stop())
  const table = routes(db, directory, upkeep, retentionDays)
  const service: Service = {
    now,
    admission,
    connections,
    pipeline: openPipeline(db, directory),
    admitted: new WeakMap(),
  }
  app.addHook('onRequest', async request => {
    if (!request.is404) return
    await admission.count(request)
    throw notFound(request, table)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { hold, beAlone } = service.admitted.get(request)!
    const { bodyLimit: own = anyBody } = request.routeOptions.config as Pick<AccountRoute, 'bodyLimit'>
    const bytes = await readBody(request.raw, own.bytes < anyBody.bytes ? own : anyBody, hold)
    if (bytes.length > largeBytes) await beAlone()
    return readJson(bytes)
  })
  for (const route of table) {
    if (route.scope === 'public') addPublicRoute(app, route, service)
    else addAccountRoute(app, route, service)
  }
  app.setErrorHandler((error, request, reply) => {
    service.admitted.get(request)?.leave()
    return refuse(error, request, reply, connections)
  })
  return app
}

/** What the requests of a process have in common. */
type Service = {
  readonly now: () => Date
  readonly admission: Admission
  readonly connections: Connections
  readonly pipeline: Pipeline
  readonly admitted: WeakMap<FastifyRequest, Admitted>
}

/** A larger body keeps the process busy for a moment (D103). */
const largeBytes = 65_536

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
      const caller = admitted.get(request)!
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
  { caller, token }: Admitted,
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
    once: scope.endsWith(':write') ? onceOf(key, [method, url, ifMatch, body]) : null,
    now,
    hungUp: () => hangUpOf(reply.raw),
  }
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, connections: Connections) {
  const refusal = refusalOf(error)
  if (!refusal) request.log.error({ err: error }, 'request failed')
  return send(reply, request, problemAnswer(refusal ?? error, request.id), connections)
}

function send(
  reply: FastifyReply,
  request: FastifyRequest,
  { status, headers, body }: Answer,
  connections: Connections,
) {
  connections.answer(request.raw, reply.raw)
  const type = 'application/json; charset=utf-8'
  return reply
    .code(status)
    .headers({ ...securityHeaders, 'content-type': type, 'x-request-id': request.id, ...headers })
    .send(body)
}

function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID()
}
