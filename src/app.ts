/**
 * The composition root: it wires database, callers and routes into an HTTP service, with all hooks of a
 * request in order.
 */
import type { IncomingMessage } from 'node:http'
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
import { Hashing } from './accounts/sign-in/hashing.ts'
import { SignIn } from './accounts/sign-in/sign-in.ts'
import { throttle } from './accounts/sign-in/throttle.ts'
import { limits as defaultLimits, type Limits, type OpenIdSettings } from './config.ts'
import type { Database } from './db/open.ts'
import { publish } from './diagnostics.ts'
import { Refusal } from './errors.ts'
import { notifyAfterWrite, Subscribers } from './history/subscribers.ts'
import { type Admission, openAdmission } from './http/admission.ts'
import { bodyLimit, readBody } from './http/body.ts'
import { refuseWrongHeaders } from './http/client.ts'
import { arrivalTimes, Connections } from './http/connections.ts'
import { allowOrigins } from './http/cross-origin.ts'
import { addRoute, refuse, type Service } from './http/endpoints.ts'
import { addMcp, mcpRoute } from './http/mcp.ts'
import { openMiddleware } from './http/middleware.ts'
import { addOAuth, oauthRoutes } from './http/oauth.ts'
import { type Observers, observeRequests } from './http/observe-requests.ts'
import { type ProxyTest, proxyTest, reportUnnamedProxy } from './http/proxies.ts'
import { rateLimit } from './http/rate-limit.ts'
import { readJson, requestId } from './http/request.ts'
import type { AccountRoute } from './http/route.ts'
import { OpenId } from './http/routes/openid.ts'
import { routes } from './http/routes.ts'
import { isForPage, serveWeb } from './http/web.ts'
import { Paths } from './http/wrong-path.ts'
import { resources } from './resources/resources.ts'
import { ownCounts, type SharedCounts } from './waiting/shared-counts.ts'
import { BackgroundJobs } from './work/background/background-jobs.ts'
import { JobWorker } from './work/jobs/worker.ts'
import { WebhookWorker, type WorkerOptions } from './work/webhooks/worker.ts'

export type AppOptions = {
  db: Database
  now: () => Date
  /** monotonic clock, in milliseconds */
  clock?: () => number
  log: Logger
  limits?: Partial<Limits>
  /** the origin under which browsers reach the service */
  publicUrl?: string | null
  /** origins whose pages may call the service with a token */
  corsOrigins?: readonly string[]
  openId?: OpenIdSettings | null
  /** addresses and networks of the reverse proxies whose X-Forwarded-* headers count */
  trustedProxies?: readonly string[]
  /** those who see requests; traces see deliveries, too */
  observed?: Observers
  /** parameters of password hashing */
  hashing?: Hashing
  /** counts that the workers of a service share */
  counts?: SharedCounts
  /** calls `act` once this process does what one of the workers does for all; default: at once */
  whenLeading?: (act: () => void) => void
  /** options of webhook delivery */
  webhooks?: Pick<WorkerOptions, 'allowPrivate' | 'resolve' | 'timeoutMs' | 'everyMs'>
}

/** The service, not yet listening. */
export function buildApp({
  db: database,
  now,
  clock = () => performance.now(),
  log,
  limits: given = {},
  publicUrl = null,
  corsOrigins = [],
  openId = null,
  trustedProxies = [],
  observed = { observers: [], traces: null },
  hashing = new Hashing(),
  webhooks = { allowPrivate: false },
  counts = ownCounts,
  whenLeading = act => act(),
}: AppOptions): FastifyInstance {
  const limits = { ...defaultLimits, ...given }
  const { retentionDays, eventRetentionDays, bodyLimitBytes, requestTimeoutMs } = limits
  const say = (line: string) => log.warn(line)
  const isProxy = proxyTest(trustedProxies)
  const app = httpServer(log, requestTimeoutMs, trustedProxies.length > 0 && isProxy, {
    connection: (error, socket) => connections.refuse(error, socket),
    path: (...refused) => refusePath(admission, connections, ...refused),
  })
  const notifying = (own: Database) => notifyAfterWrite(own, () => [subscribers, worker])
  const db = notifying(observed.traces?.database(database) ?? database)
  const background = { db: notifying({ ...database, ...database.background }), now, log: say, retentionDays }
  const subscribers = new Subscribers(background.db)
  // Open event streams end before the service waits for its connections to end.
  app.addHook('preClose', async () => subscribers.stop())
  const callers = new Callers(db, resources, clock)
  const connections = new Connections(app.server, { limits, isProxy, say })
  const rate = rateLimit(limits.rateLimit, clock, counts)
  const admission = openAdmission({ callers, rate, publicUrl, bodyLimitBytes })
  const signIn = new SignIn({ db, callers, hashing, throttle: throttle(clock, counts) })
  const provider = openId && publicUrl ? new OpenId(openId, publicUrl, clock, say) : null
  const jobs = new BackgroundJobs({ ...background, resources, eventRetentionDays, whenLeading })
  const worker = new WebhookWorker({ ...background, callers, traces: observed.traces, ...webhooks })
  const jobWorker = new JobWorker({ ...background, callers })
  for (const one of [jobs, worker, jobWorker]) app.addHook('onClose', () => one.stop())
  const work = { jobs, worker, jobWorker }
  const parts = { db, callers, subscribers, signIn, openId: provider, retentionDays, now, say, ...work }
  const table = routes(parts)
  const middleware = openMiddleware(db)
  const service: Service = { now, clock, admission, connections, middleware, admitted: new WeakMap() }
  observeRequests(app, observed, { ...service, routes: new Set(table.map(({ url }) => url)) })
  allowOrigins(app, corsOrigins)
  const hasWeb = serveWeb(app, connections)
  if (!hasWeb) log.warn('The web UI is not there: "npm run build" makes it.')
  refuseWrongAddresses(app, new Paths([...table, mcpRoute, ...oauthRoutes]), admission, hasWeb)
  takeJsonBodies(app, service, bodyLimitBytes)
  for (const route of table) addRoute(app, route, service)
  addMcp(app, table, service, { db, corsOrigins, publicUrl })
  addOAuth(app, service, { db, callers })
  app.setErrorHandler((error, request, reply) => {
    service.admitted.get(request)?.release()
    return refuse(error, request, reply, connections)
  })
  return app
}

/** Refuses a path that can't be read. No route matches it, so no route's hooks run. */
function refusePath(
  admission: Admission,
  connections: Connections,
  ...[error, request, reply]: Parameters<Refusals['path']>
): void {
  publish('connection-refusal', { error: 'malformed_request' })
  const answer = (refused: unknown) => refuse(refused, request, reply, connections)
  void admission.count(request).then(() => answer(error), answer)
}

function refuseWrongAddresses(
  app: FastifyInstance,
  paths: Paths,
  admission: Admission,
  hasWeb: boolean,
): void {
  // After the CORS hook, so that pages of allowed origins can read these refusals too.
  app.after(() =>
    app.addHook('onRequest', async request => {
      refuseWrongHeaders(request)
      const path = request.raw.url!.split('?', 1)[0]!
      if (request.is404 && hasWeb && isForPage(request)) return
      if (!request.is404 && !paths.isMistaken(request.routeOptions.url, path)) return
      await admission.count(request)
      throw paths.refusal(request.method, path)
    }),
  )
}

/** Handlers of requests that reach no route. */
type Refusals = {
  connection(error: Error, socket: Socket): void
  path(error: Error, request: FastifyRequest, reply: FastifyReply): void
}

function httpServer(
  log: Logger,
  requestTimeoutMs: number,
  trustProxy: ProxyTest | false,
  refusals: Refusals,
): FastifyInstance {
  const app = Fastify({
    // The whole request must arrive within this time. The database limits how long its work takes.
    requestTimeout: requestTimeoutMs,
    http: arrivalTimes(requestTimeoutMs),
    trustProxy,
    // While the service stops, open connections are still served.
    return503OnClosing: false,
    clientErrorHandler: refusals.connection,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: request => requestId(request.headers['x-request-id']),
    // A name of 255 characters takes up to twelve bytes each in a percent-encoded path.
    routerOptions: { maxParamLength: 4096 },
    frameworkErrors: refusals.path,
  })
  if (!trustProxy) reportUnnamedProxy(app, line => log.warn(line))
  return app
}

/** A larger body keeps the process busy for a moment (D103). */
const largeBytes = 65_536

function takeJsonBodies(app: FastifyInstance, { admitted }: Service, bodyLimitBytes: number): void {
  const anyBody = bodyLimit(bodyLimitBytes)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { reserveBytes, lockLargeBodies } = admitted.get(request)!
    const { bodyLimit: own = anyBody } = request.routeOptions.config as Pick<AccountRoute, 'bodyLimit'>
    const bytes = await readBody(request.raw, own.bytes < anyBody.bytes ? own : anyBody, reserveBytes)
    if (bytes.length > largeBytes) await lockLargeBodies()
    return readJson(bytes)
  })
  // The handler itself streams an uploaded file.
  app.addContentTypeParser('*', async (request: FastifyRequest, body: IncomingMessage) => {
    const { uploads = [] } = request.routeOptions.config as Pick<AccountRoute, 'uploads'>
    const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
    if (uploads.includes(type)) return body
    const known = uploads.length ? uploads.join(' or ') : 'application/json'
    throw new Refusal('unsupported_media_type', `Send the body as "Content-Type: ${known}".`)
  })
}
