/** The only wiring: database, directory and routes become an HTTP service. Everything a request passes on its way stands here in order. */
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
import { type Answer, problemAnswer } from './api/answer.ts'
import { type ApiRequest, readJson, readQuery } from './api/request.ts'
import { type Route, routes } from './api/routes.ts'
import type { Database } from './db/open.ts'
import { databaseRefusal } from './db/refusal.ts'
import { type ErrorSlug, Refusal } from './errors.ts'
import { resources } from './resources.ts'

const bodyLimitBytes = 1_048_576

export type AppOptions = { db: Database; now: () => Date; log: Logger }

/** The service, not yet listening. */
export function buildApp({ db, now, log }: AppOptions): FastifyInstance {
  const directory = openDirectory(db, resources, () => performance.now())
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: request => requestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (error, request, reply) => send(reply, request, problemAnswer(refusalOf(error) ?? error, request.id)),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    try {
      done(null, readJson(bytes as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  const upkeep = startUpkeep({ db, resources, now, log: line => log.warn(line) })
  app.addHook('onClose', async () => upkeep.stop())
  const table = routes(db, directory, upkeep)
  for (const route of table) addRoute(app, route, directory, now)
  app.setNotFoundHandler((request, reply) => send(reply, request, problemAnswer(notFound(request, table), request.id)))
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error)
    if (!refusal) request.log.error({ err: error }, 'request failed')
    return send(reply, request, problemAnswer(refusal ?? error, request.id))
  })
  return app
}

function addRoute(app: FastifyInstance, route: Route, directory: Directory, now: () => Date): void {
  if (!route.scope) throw new Error(`${route.method} ${route.url} names no scope`)
  app.route({
    method: route.method,
    url: route.url,
    handler: async (request, reply) => {
      refuseOtherThanJson(request)
      const url = request.raw.url!
      const params = request.params as { id?: string; option?: string }
      const asked: Omit<ApiRequest, 'caller'> = {
        path: url.split('?', 1)[0]!,
        id: params.id ?? '',
        option: params.option ?? '',
        query: readQuery(url),
        body: request.body as ApiRequest['body'],
        ifMatch: request.headers['if-match'],
        now: now(),
      }
      if (route.scope === 'public') return send(reply, request, await route.handler({ ...asked, caller: undefined as never }))
      const token = tokenOf(request)
      const caller = allowed(await directory.caller(token), route.scope)
      const answer = await route.handler({ ...asked, caller }).catch(async error => {
        // A field or option that another process has just made is unknown to what is remembered here: judged again, once, with the
        // configuration as it is now. A refused request has left no trace.
        if (!(error instanceof Refusal && judgedByCatalog.has(error.slug))) throw error
        const latest = allowed(await directory.callerNow(token), route.scope)
        if (latest.catalog === caller.catalog) throw error
        return route.handler({ ...asked, caller: latest })
      })
      return send(reply, request, answer)
    },
  })
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
    .headers({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': request.id, ...headers })
    .send(body)
}

const challenge = { 'www-authenticate': 'Bearer realm="dealwright"' }

/** The token of a request. 401 without one (D38). */
function tokenOf(request: FastifyRequest): string {
  const { authorization } = request.headers
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
  const token = bearer ?? (authorization === undefined ? request.headers['x-api-key'] : undefined)
  if (typeof token === 'string' && token !== '') return token
  throw new Refusal('unauthenticated', 'Send the token as "Authorization: Bearer <token>".', [], challenge)
}

/** Who asks (D38): 401 without a valid token, 403 when it lacks the route's scope. */
function allowed(caller: Caller | null, scope: string): Caller {
  if (!caller) throw new Refusal('unauthenticated', 'The token is unknown, expired or revoked.', [], challenge)
  if (caller.scopes.has('admin') || caller.scopes.has(scope)) return caller
  throw new Refusal('forbidden', `The token needs the scope ${scope}; it has ${[...caller.scopes].join(', ') || 'none'}.`)
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
      return new Refusal('body_too_large', `The body may have at most ${bodyLimitBytes} bytes.`)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'Send the body as "Content-Type: application/json".')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Refusal('malformed_request', 'The body is not as long as its Content-Length.')
    case 'FST_ERR_BAD_URL':
      return new Refusal('malformed_path', 'The path has a broken percent-encoding.')
  }
  return databaseRefusal(error)
}

function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID()
}
