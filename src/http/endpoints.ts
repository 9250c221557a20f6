/**
 * Serves the routes of the table with Fastify: admits each request, carries it out and sends the response, or
 * the refusal.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Admission, AdmittedRequest, AuthenticatedRequest } from './admission.ts'
import { type Answer, problemAnswer, securityHeaders } from './answer.ts'
import { charsetOf, refuseCompressed } from './body.ts'
import type { Connections } from './connections.ts'
import { encoded, sizeOf } from './http-encoding.ts'
import type { Middleware } from './middleware.ts'
import { traceIdOf, traceparentOf } from './observe-requests.ts'
import { dryRun, isWrite, takesKey, tellsSeq } from './openapi/operation.ts'
import { parseQueryString } from './parameters.ts'
import { refusalOf, refuseOtherThanJson, wantsPage, wantsStream } from './refusals.ts'
import {
  type ApiRequest,
  hangUpOf,
  idempotencyOf,
  lastEventIdOf,
  refuseConditions,
  seqHeader,
  seqOf,
} from './request.ts'
import { revalidateDownload } from './revalidate-download.ts'
import type { AccountRoute, AnonymousRoute, PublicRoute, Route } from './route.ts'

/** The parts that all requests of a process share. */
export type Service = {
  readonly now: () => Date
  readonly clock: () => number
  readonly admission: Admission
  readonly connections: Connections
  readonly middleware: Middleware
  /** admitted requests, of accounts and of guests */
  readonly admitted: WeakMap<FastifyRequest, AuthenticatedRequest | AdmittedRequest>
}

/** Adds a route to the server. An account's route must name its scope. */
export function addRoute(app: FastifyInstance, route: Route, service: Service): void {
  if ('anonymousHandler' in route) addAnonymousRoute(app, route, service)
  else if (route.scope === 'public') addPublicRoute(app, route, service)
  else addAccountRoute(app, route, service)
}

function addPublicRoute(app: FastifyInstance, route: PublicRoute, { connections }: Service): void {
  app.route({
    method: route.method,
    url: route.url,
    handler: async (request, reply) => {
      if (!route.isPage) refuseOtherThanJson(request)
      else reply.header('vary', [reply.getHeader('vary') ?? [], 'accept'].flat().join(', '))
      // Without the web UI there is no such file.
      const hasPage = route.isPage && app.hasReplyDecorator('sendFile')
      if (hasPage && wantsPage(request)) return reply.sendFile('index.html')
      const { name = '' } = request.params as { name?: string }
      return send(reply, request, await route.handler(name), connections)
    },
  })
}

/** Adds a route that needs no caller, such as a sign-in; in all else like an account's route. */
function addAnonymousRoute(
  app: FastifyInstance,
  { method, url, bodyLimit, anonymousHandler, takesToken, isFile }: AnonymousRoute,
  { admission, admitted, connections }: Service,
): void {
  app.route({
    method,
    url,
    config: { bodyLimit },
    onRequest: async request => {
      admitted.set(request, await (takesToken ? admission.admitAnyone : admission.admitAnonymous)(request))
      if (!isFile) refuseOtherThanJson(request)
    },
    handler: async (request, reply) => {
      const anonymous = admitted.get(request)!
      const { client, rateLimitHeaders, release } = anonymous
      try {
        const caller = 'caller' in anonymous ? anonymous.caller : null
        const address = request.raw.url!
        const answer = await anonymousHandler({
          ...{ caller, client, url: address, query: parseQueryString(address) },
          ...{ body: request.body as ApiRequest['body'], wantsPage: wantsPage(request) },
          hungUp: () => hangUpOf(reply.raw),
        })
        return send(reply, request, answer, connections, rateLimitHeaders)
      } finally {
        release()
      }
    },
  })
}

function addAccountRoute(app: FastifyInstance, route: AccountRoute, service: Service): void {
  const { method, url, scope, operation, bodyLimit, isStreamed = false, isFile, uploads, handler } = route
  const { admission, admitted, clock, connections, middleware } = service
  if (!scope) throw new Error(`${method} ${url} names no scope`)
  app.route({
    method,
    url,
    config: { bodyLimit, uploads },
    onRequest: async request => {
      admitted.set(request, await admission.admit(request, scope))
      connections.trust(request.raw.socket)
      if (!isFile) refuseOtherThanJson(request, isStreamed)
      if (uploads) refuseCompressed(request.headers)
    },
    handler: async (request, reply) => {
      const atHead = admitted.get(request) as AuthenticatedRequest
      try {
        // Its body may have taken long to arrive, or have waited for its turn.
        const caller = await admission.identifyAgain(atHead, scope)
        if (isWrite(route)) refuseConditions(request.headers, operation.ifMatch ?? false)
        const answer = await middleware(requestOf(route, caller, request, reply, service), handler)
        // Only reads reserve memory for their answer: a write that was carried out is not refused for it.
        if (!isWrite(route) && request.method !== 'HEAD') reserveForAnswer(answer, caller, reply)
        if (isFile && answer.body instanceof Readable)
          await revalidateDownload(answer.body, reply, clock, () => admission.askAgain(caller, scope))
        return send(reply, request, answer, connections, caller.rateLimitHeaders)
      } finally {
        atHead.release()
      }
    },
  })
}

function reserveForAnswer(
  { body }: Answer,
  { reserveAnswer }: AuthenticatedRequest,
  reply: FastifyReply,
): void {
  // A client that has hung up by then reads nothing.
  if (body instanceof Readable || reply.raw.destroyed) return
  const release = reserveAnswer(sizeOf(body))
  if (release) reply.raw.once('close', release)
}

type PathParameter = 'id' | 'option' | 'delivery' | 'field' | 'value'

function requestOf(
  { method, scope, operation, uploads }: AccountRoute,
  { caller, token, client, release, reserveAnswer }: AuthenticatedRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  { now, admission, connections }: Service,
): ApiRequest {
  const url = request.raw.url!
  const params = request.params as { [name in PathParameter]?: string }
  const body = uploads ? undefined : (request.body as ApiRequest['body'])
  const file = uploads && request.body instanceof Readable ? request.body : null
  const query = parseQueryString(url)
  // A dry run stores no idempotency key.
  const isKeyed = takesKey({ scope, operation }) && !query.has(dryRun)
  const { 'idempotency-key': key, 'if-match': ifMatch, 'last-event-id': lastEventId } = request.headers
  return {
    caller,
    token,
    latestCaller: () => admission.latest(token, scope),
    ...{ requestId: request.id, traceparent: traceparentOf(request) },
    path: url.split('?', 1)[0]!,
    id: params.id ?? '',
    secondId: params.option ?? params.delivery ?? '',
    field: params.field ?? '',
    value: params.value ?? '',
    query,
    body,
    upload: file ? connections.receive(file, request.raw.socket, reply.raw) : null,
    charset: charsetOf(request.headers),
    ifMatch,
    idempotency: isKeyed ? idempotencyOf(key, caller, [method, url, ifMatch, body]) : null,
    now: now(),
    client,
    isHead: request.method === 'HEAD',
    wantsStream: wantsStream(request),
    lastEventId: lastEventIdOf(lastEventId),
    tellsSeq: tellsSeq({ method, scope }),
    knownSeq: () => seqOf(request.headers[seqHeader]),
    release,
    reserveAnswer,
    hungUp: () => hangUpOf(reply.raw),
  }
}

/** Responds to an error. An error that is no refusal is a fault, and is logged. */
export function refuse(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  connections: Connections,
) {
  const refusal = refusalOf(error)
  if (!refusal || refusal.cause)
    request.log.error({ err: refusal?.cause ?? error, trace: traceIdOf(request) }, 'request failed')
  return send(reply, request, problemAnswer(refusal ?? error, request.id), connections)
}

export async function send(
  reply: FastifyReply,
  request: FastifyRequest,
  answer: Answer,
  connections: Connections,
  rateLimitHeaders: Answer['headers'] = {},
): Promise<FastifyReply> {
  connections.answer(request.raw, reply.raw)
  const vary = String(reply.getHeader('vary') ?? '')
  const { status, headers, body } = await encoded(answer, request, vary)
  const type = 'application/json; charset=utf-8'
  return reply
    .code(status)
    .headers({
      ...{ ...securityHeaders, 'content-type': type, 'x-request-id': request.id },
      ...headers,
      ...rateLimitHeaders,
    })
    .send(body)
}
