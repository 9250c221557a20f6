/** The only wiring: database, directory and routes become an HTTP service. Everything a request passes on its way stands here in order. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import rateLimitPlugin from '@fastify/rate-limit'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { type Caller, type Directory, openDirectory } from './accounts/directory.ts'
import { startUpkeep } from './administration/upkeep.ts'
import { type Answer, problemAnswer } from './api/answer.ts'
import { type RateLimit, rateLimit } from './api/rate-limit.ts'
import { type ApiRequest, onceOf, readJson, readQuery } from './api/request.ts'
import { type Route, routes } from './api/routes.ts'
import { limits as defaultLimits } from './config.ts'
import type { Database } from './db/open.ts'
import { databaseRefusal } from './db/refusal.ts'
import { DatabaseUnavailable } from './db/unavailable.ts'
import { type ErrorSlug, Refusal } from './errors.ts'
import { recall } from './records/once.ts'
import { resources } from './resources.ts'

/** Requests that are carried out at the same time: with more, each would only wait longer. */
const underWayMax = 500

export type AppOptions = {
  db: Database
  now: () => Date
  log: Logger
  limits?: { retentionDays: number; bodyLimitBytes: number; rateLimit: number }
}

/** The service, not yet listening. */
export function buildApp({ db, now, log, limits = defaultLimits }: AppOptions): FastifyInstance {
  const { retentionDays, bodyLimitBytes } = limits
  const directory = openDirectory(db, resources, () => performance.now())
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    // A request has to arrive in that time; what it asks for is limited by the database.
    requestTimeout: 30_000,
    // While the service stops, connections that are open are still answered.
    return503OnClosing: false,
    clientErrorHandler: refuseConnection,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: request => requestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: refuse,
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      refuseOtherThanUtf8(request)
      done(null, readJson(bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  const upkeep = startUpkeep({ db, resources, now, log: line => log.warn(line), retentionDays })
  app.addHook('onClose', async () => upkeep.stop())
  const table = routes(db, directory, upkeep, retentionDays)
  app.register(rateLimitPlugin, { global: false })
  const state: State = {
    db,
    directory,
    now,
    rate: rateLimit(options => app.createRateLimit(options), limits.rateLimit),
    keys: new Set(),
    underWay: 0,
  }
  for (const route of table) addRoute(app, route, state)
  app.setNotFoundHandler((request, reply) => send(reply, request, problemAnswer(notFound(request, table), request.id)))
  app.setErrorHandler(refuse)
  return app
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const refusal = refusalOf(error)
  if (!refusal) request.log.error({ err: error }, 'request failed')
  return send(reply, request, problemAnswer(refusal ?? error, request.id))
}

/** What the requests of a process have in common. */
type State = {
  readonly db: Database
  readonly directory: Directory
  readonly now: () => Date
  readonly rate: RateLimit<FastifyRequest>
  /** the Idempotency-Keys of requests that are being carried out */
  readonly keys: Set<string>
  /** how many requests are being carried out */
  underWay: number
}

function addRoute(app: FastifyInstance, route: Route, state: State): void {
  if (!route.scope) throw new Error(`${route.method} ${route.url} names no scope`)
  const isWrite = route.scope.endsWith(':write')
  app.route({
    method: route.method,
    url: route.url,
    handler: async (request, reply) => {
      refuseOtherThanJson(request)
      const url = request.raw.url!
      const params = request.params as { id?: string; option?: string }
      const body = request.body as ApiRequest['body']
      const once = isWrite
        ? onceOf(request.headers['idempotency-key'], [route.method, url, request.headers['if-match'], body])
        : null
      const asked: Omit<ApiRequest, 'caller'> = {
        path: url.split('?', 1)[0]!,
        id: params.id ?? '',
        option: params.option ?? '',
        query: readQuery(url),
        body,
        ifMatch: request.headers['if-match'],
        once,
        now: state.now(),
      }
      if (route.scope === 'public') return send(reply, request, await route.handler({ ...asked, caller: undefined as never }))
      if (state.underWay >= underWayMax) throw new Refusal('overloaded', 'Try again in a moment.', [], { 'retry-after': '1' })
      state.underWay++
      try {
        const answer = await answered(route, asked, request, state)
        return send(reply, request, answer)
      } finally {
        state.underWay--
      }
    },
  })
}

async function answered(
  route: Route,
  asked: Omit<ApiRequest, 'caller'>,
  request: FastifyRequest,
  { db, directory, rate, keys }: State,
): Promise<Answer> {
  const token = tokenOf(request)
  const found = token === null ? null : await directory.caller(token)
  const left = await rate.count(request, found && token)
  if (token === null) throw new Refusal('unauthenticated', 'Send the token as "Authorization: Bearer <token>".', [], challenge)
  const caller = allowed(found, route.scope)
  const { once } = asked
  const carryOut = () =>
    carriedOut(route, { ...asked, caller }, () => directory.callerNow(token)).catch(async error => {
      // Over another process the same request may have been quicker, which is why this one was refused: then its answer is this one's.
      const about = { account: String(caller.catalog.account.id), once, now: asked.now }
      if (once && !(error instanceof DatabaseUnavailable) && (await recall(db, about))) return route.handler({ ...asked, caller })
      throw error
    })
  const { headers, ...answer } = await (once ? alone(keys, `${caller.catalog.account.id} ${once.key}`, carryOut) : carryOut())
  return { ...answer, headers: { ...headers, ...left, ...(once?.isReplayed ? { 'idempotency-replayed': 'true' } : {}) } }
}

/** Carries a request out; one refused under a configuration that has changed since is judged again, once, with the latest. */
async function carriedOut(route: Route, request: ApiRequest, callerNow: () => Promise<Caller | null>): Promise<Answer> {
  try {
    return await route.handler(request)
  } catch (error) {
    // A field or option that another process has just made is unknown to what is remembered here. A refused request has left no trace.
    if (!(error instanceof Refusal && judgedByCatalog.has(error.slug))) throw error
    const latest = allowed(await callerNow(), route.scope)
    if (latest.catalog === request.caller.catalog) throw error
    return route.handler({ ...request, caller: latest })
  }
}

/** Carries out the request of an Idempotency-Key; the same request has to wait for its answer (D8). */
async function alone(keys: Set<string>, key: string, carryOut: () => Promise<Answer>): Promise<Answer> {
  if (keys.has(key)) {
    throw new Refusal(
      'request_in_flight',
      'A request with this Idempotency-Key is being carried out; ask again for its answer.',
      [],
      {
        'retry-after': '1',
      },
    )
  }
  keys.add(key)
  return carryOut().finally(() => keys.delete(key))
}

const judgedByCatalog: ReadonlySet<ErrorSlug> = new Set([
  'validation_failed',
  'malformed_query',
  'field_not_found',
  'not_a_dropdown',
])

function send(reply: FastifyReply, request: FastifyRequest, { status, headers, body }: Answer) {
  return reply
    .code(status)
    .headers({ ...securityHeaders, 'content-type': 'application/json; charset=utf-8', 'x-request-id': request.id, ...headers })
    .send(body)
}

/** Answers are data of one caller: not to be kept on the way, nor taken for a page that may load or be framed by anything. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** What is no readable HTTP request gets its answer too, and the connection ends. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  const slug = { HPE_HEADER_OVERFLOW: 'header_too_large', ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout' } as const
  const refusal = new Refusal(slug[error.code as keyof typeof slug] ?? 'malformed_request', 'The request could not be read.')
  const { status, headers, body } = problemAnswer(refusal, randomUUID())
  const all = { ...securityHeaders, ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  else socket.destroy()
}

const challenge = { 'www-authenticate': 'Bearer realm="dealwright"' }

/** The token of a request; null without one. */
function tokenOf(request: FastifyRequest): string | null {
  const { authorization } = request.headers
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
  const token = bearer ?? (authorization === undefined ? request.headers['x-api-key'] : undefined)
  return typeof token === 'string' && token !== '' ? token : null
}

/** Who asks (D38): 401 without a valid token, 403 when it lacks the route's scope. */
function allowed(caller: Caller | null, scope: string): Caller {
  if (!caller) throw new Refusal('unauthenticated', 'The token is unknown, expired or revoked.', [], challenge)
  if (caller.scopes.has('admin') || caller.scopes.has(scope)) return caller
  throw new Refusal('forbidden', `The token needs the scope ${scope}; it has ${[...caller.scopes].join(', ') || 'none'}.`)
}

function refuseOtherThanUtf8({ headers }: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'
  const encoding = headers['content-encoding'] ?? 'identity'
  if (/^utf-?8$/i.test(charset) && encoding === 'identity') return
  throw new Refusal('unsupported_media_type', 'Send the body as JSON in UTF-8, without compression.')
}

function refuseOtherThanJson({ headers: { accept }, url }: FastifyRequest): void {
  if (!accept || url.startsWith('/docs') || /\*\/\*|application\/(\*|json|problem\+json|[\w.-]+\+json)/i.test(accept)) return
  throw new Refusal('not_acceptable', 'Answers are application/json; send "Accept: application/json" or none.')
}

/** 405 with Allow where the path has other methods, else 404. */
function notFound(request: FastifyRequest, table: readonly Route[]): Refusal {
  const path = request.raw.url!.split('?', 1)[0]!
  const methods = table
    .filter(({ url }) => new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`).test(path))
    .map(({ method }) => method)
  if (methods.length === 0) return new Refusal('route_not_found', `There is nothing at ${path}.`)
  const allow = [...new Set(methods), ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  return new Refusal('method_not_allowed', `${path} takes ${allow}.`, [], { allow })
}

/** What the HTTP library and the database refuse, in our own words; null for a fault. */
function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  switch ((error as { code?: string }).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('body_too_large', `The body is larger than the service takes.`)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'Send the body as "Content-Type: application/json".')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Refusal('malformed_request', 'The body is not as long as its Content-Length.')
    case 'ECONNRESET':
      return new Refusal('malformed_request', 'The request ended before its body did.')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Refusal('malformed_path', 'A part of the path is too long.')
    case 'FST_ERR_BAD_URL':
      return new Refusal('malformed_path', 'The path has a broken percent-encoding.')
  }
  return databaseRefusal(error)
}

function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID()
}
