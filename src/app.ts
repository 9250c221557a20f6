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
import { type Caller, type Directory, openDirectory } from './accounts/directory.ts'
import { startUpkeep } from './administration/upkeep.ts'
import { type Admission, type Admitted, allowed, openAdmission } from './api/admission.ts'
import { type Answer, problemAnswer, securityHeaders } from './api/answer.ts'
import { bodyLimit, readBody } from './api/body.ts'
import { arrivalTimes, type Connections, watchConnections } from './api/connections.ts'
import { rateLimit } from './api/rate-limit.ts'
import { type ApiRequest, hangUpOf, onceOf, readJson, readQuery } from './api/request.ts'
import { type Route, routes } from './api/routes.ts'
import { limits as defaultLimits, type Limits } from './config.ts'
import type { Database } from './db/open.ts'
import { databaseRefusal } from './db/refusal.ts'
import { DatabaseUnavailable } from './db/unavailable.ts'
import { type ErrorSlug, Refusal } from './errors.ts'
import { recall } from './records/once.ts'
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
  const state: State = {
    db,
    directory,
    now,
    admission,
    connections,
    admitted: new WeakMap(),
    keys: new Set(),
  }
  app.addHook('onRequest', async request => {
    if (!request.is404) return
    await admission.count(request)
    throw notFound(request, table)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const { hold, beAlone } = state.admitted.get(request)!
    const { bodyLimit: own = anyBody } = request.routeOptions.config as Pick<Route, 'bodyLimit'>
    const bytes = await readBody(request.raw, own.bytes < anyBody.bytes ? own : anyBody, hold)
    if (bytes.length > largeBytes) await beAlone()
    return readJson(bytes)
  })
  for (const route of table) addRoute(app, route, state)
  app.setErrorHandler((error, request, reply) => {
    state.admitted.get(request)?.leave()
    return refuse(error, request, reply, connections)
  })
  return app
}

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, connections: Connections) {
  const refusal = refusalOf(error)
  if (!refusal) request.log.error({ err: error }, 'request failed')
  return send(reply, request, problemAnswer(refusal ?? error, request.id), connections)
}

/** A body of more bytes takes its time, in which nothing else is done. */
const largeBytes = 65_536

/** What the requests of a process have in common. */
type State = {
  readonly db: Database
  readonly directory: Directory
  readonly now: () => Date
  readonly admission: Admission
  readonly connections: Connections
  readonly admitted: WeakMap<FastifyRequest, Admitted>
  /** the Idempotency-Keys of requests that are being carried out */
  readonly keys: Set<string>
}

function addRoute(app: FastifyInstance, route: Route, state: State): void {
  const { method, url, scope, bodyLimit } = route
  if (!scope) throw new Error(`${method} ${url} names no scope`)
  if (scope === 'public') {
    app.route({
      method,
      url,
      handler: async (request, reply) => {
        refuseOtherThanJson(request)
        const caller = undefined as never
        return send(
          reply,
          request,
          await route.handler({ ...asked(route, request, reply, state), caller }),
          state.connections,
        )
      },
    })
    return
  }
  app.route({
    method,
    url,
    config: { bodyLimit },
    onRequest: async request => {
      state.admitted.set(request, await state.admission.admit(request, scope))
      state.connections.trust(request.raw.socket)
      refuseOtherThanJson(request)
    },
    handler: async (request, reply) => {
      const admitted = state.admitted.get(request)!
      try {
        const answer = await answered(route, asked(route, request, reply, state), admitted, state)
        return send(reply, request, answer, state.connections)
      } finally {
        admitted.leave()
      }
    },
  })
}

/** A request as handlers know it, but for who asks. */
function asked(
  { method, scope }: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  state: State,
): Omit<ApiRequest, 'caller'> {
  const url = request.raw.url!
  const params = request.params as { id?: string; option?: string }
  const body = request.body as ApiRequest['body']
  const { 'idempotency-key': key, 'if-match': ifMatch } = request.headers
  return {
    path: url.split('?', 1)[0]!,
    id: params.id ?? '',
    option: params.option ?? '',
    query: readQuery(url),
    body,
    ifMatch,
    once: scope.endsWith(':write') ? onceOf(key, [method, url, ifMatch, body]) : null,
    now: state.now(),
    hungUp: () => hangUpOf(reply.raw),
  }
}

async function answered(
  route: Route,
  asked: Omit<ApiRequest, 'caller'>,
  { caller, token, left }: Admitted,
  { db, directory, keys }: State,
): Promise<Answer> {
  const { once } = asked
  const carryOut = () =>
    carriedOut(route, { ...asked, caller }, () => directory.callerNow(token)).catch(async error => {
      // Over another process the same request may have been quicker, which is why this one was refused: then
      // its answer is this one's.
      const about = { account: String(caller.catalog.account.id), once }
      if (once && !(error instanceof DatabaseUnavailable) && (await recall(db, about)))
        return route.handler({ ...asked, caller })
      throw error
    })
  const { headers, ...answer } = await (once
    ? alone(keys, `${caller.catalog.account.id} ${once.key}`, carryOut)
    : carryOut())
  return {
    ...answer,
    headers: { ...headers, ...left, ...(once?.isReplayed ? { 'idempotency-replayed': 'true' } : {}) },
  }
}

/**
 * Carries a request out; one refused under a configuration that has changed since is judged again, once, with
 * the latest.
 */
async function carriedOut(
  route: Route,
  request: ApiRequest,
  callerNow: () => Promise<Caller | null>,
): Promise<Answer> {
  try {
    return await route.handler(request)
  } catch (error) {
    // A field or option that another process has just made is unknown to what is remembered here. A refused
    // request has left no trace.
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
  // Nothing is written by a configuration that is too old (D115).
  'busy_record',
])

function send(
  reply: FastifyReply,
  request: FastifyRequest,
  { status, headers, body }: Answer,
  connections: Connections,
) {
  connections.answer(request.raw, reply.raw)
  return reply
    .code(status)
    .headers({
      ...securityHeaders,
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': request.id,
      ...headers,
    })
    .send(body)
}

function refuseOtherThanJson({ headers: { accept }, url }: FastifyRequest): void {
  if (
    !accept ||
    url.startsWith('/docs') ||
    /\*\/\*|application\/(\*|json|problem\+json|[\w.-]+\+json)/i.test(accept)
  )
    return
  throw new Refusal(
    'not_acceptable',
    'Answers are application/json; send "Accept: application/json" or none.',
  )
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
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'Send the body as "Content-Type: application/json".')
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
