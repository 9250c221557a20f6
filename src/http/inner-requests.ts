/**
 * Requests that the service makes of its own routes for a caller who was admitted: those behind the tools of
 * agents (D145). Each is admitted, counted and carried out like a request that came over HTTP.
 */
import type { FastifyBaseLogger } from 'fastify'
import { isObject, type JsonObject, parseJson } from '../json.ts'
import type { Parameters } from '../lists/parameters.ts'
import { type Call, CallRefusal } from '../mcp/api.ts'
import type { AuthenticatedRequest } from './admission.ts'
import { type Answer, problemAnswer } from './answer.ts'
import type { Service } from './endpoints.ts'
import { dryRun, tellsSeq } from './openapi/operation.ts'
import { refusalOf } from './refusals.ts'
import { type ApiRequest, idempotencyOf } from './request.ts'
import type { AccountRoute, Route } from './route.ts'

/** The request that an inner one belongs to. */
export type Outer = {
  readonly admitted: AuthenticatedRequest
  readonly requestId: string
  readonly traceparent: string | null
  /** the agent's name, as its program tells it */
  readonly client: string | null
  readonly log: FastifyBaseLogger
  readonly hungUp: () => AbortSignal
}

export type InnerRequests = (outer: Outer, call: Call) => Promise<JsonObject>

/** Throws CallRefusal with the problem details of a refused request. */
export function innerRequests(table: readonly Route[], service: Service): InnerRequests {
  const routes = new Map(table.filter(isOfAccount).map(route => [route.operation.id, route]))
  return async (outer, call) => {
    const route = routes.get(call.operation)
    if (!route) throw new Error(`there is no operation ${call.operation}`)
    try {
      return await carryOut(route, service, outer, call)
    } catch (error) {
      if (error instanceof CallRefusal) throw error
      const refusal = refusalOf(error)
      if (!refusal || refusal.cause) outer.log.error({ err: refusal?.cause ?? error }, 'request failed')
      const { status, body } = problemAnswer(refusal ?? error, outer.requestId)
      throw new CallRefusal(status, parseJson(body) as JsonObject)
    }
  }
}

function isOfAccount(route: Route): route is AccountRoute {
  return route.scope !== 'public'
}

async function carryOut(
  route: AccountRoute,
  { admission, middleware, now }: Service,
  outer: Outer,
  call: Call,
): Promise<JsonObject> {
  const admitted = await admission.admitAgain(outer.admitted, route.scope)
  try {
    const { caller, token, client, release, reserveAnswer } = admitted
    const { id = '', body, change } = call
    const path = route.url.replace(':id', encodeURIComponent(id))
    const ifMatch = call.version === undefined ? undefined : `"${call.version}"`
    const key = change && `mcp:${change.id}:${change.part}`
    const request: ApiRequest = {
      ...{ caller, token, client, path, id: String(id), secondId: '', field: '', value: '', body, ifMatch },
      latestCaller: () => admission.latest(token, route.scope),
      ...{ requestId: change?.id ?? outer.requestId, traceparent: outer.traceparent },
      agent: { client: outer.client },
      query: queryOf(call),
      ...{ upload: null, charset: undefined, isHead: false, wantsStream: false, lastEventId: null },
      ...{ tellsSeq: tellsSeq(route), knownSeq: () => 0 },
      idempotency: idempotencyOf(key, caller, [route.method, path, ifMatch, body]),
      now: now(),
      release,
      reserveAnswer,
      hungUp: outer.hungUp,
    }
    return bodyOf(await middleware(request, route.handler))
  } finally {
    admitted.release()
  }
}

function queryOf({ query = {}, isDry }: Call): Parameters {
  const given = Object.entries(query).flatMap(([name, value]): [string, string[]][] =>
    value === undefined ? [] : [[name, [value].flat()]],
  )
  return new Map(isDry ? [...given, [dryRun, ['1']]] : given)
}

/** The body of a success. An atomic batch that was refused answers its problems itself. */
function bodyOf({ status, body }: Answer): JsonObject {
  if (typeof body !== 'string' && !Buffer.isBuffer(body) && !Array.isArray(body))
    throw new Error('a stream is no answer for a tool')
  const text = Array.isArray(body) ? Buffer.concat(body).toString() : String(body)
  const parsed = parseJson(text)
  if (!isObject(parsed)) throw new Error('the answer is no object')
  if (status >= 400) throw new CallRefusal(status, parsed)
  return parsed
}
