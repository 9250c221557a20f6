/**
 * POST /mcp: the Model Context Protocol for agents (D145). A request is admitted like any other; what its
 * tools do is admitted again, request by request.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import { agentNameOf, noteAgent } from '../mcp/agents.ts'
import type { Api, Call } from '../mcp/api.ts'
import { changesOf } from '../mcp/changes.ts'
import type { Reader } from '../records/store.ts'
import type { Admission, AuthenticatedRequest } from './admission.ts'
import type { Answer } from './answer.ts'
import { clientOf } from './client.ts'
import { type Service, send } from './endpoints.ts'
import { innerRequests } from './inner-requests.ts'
import { mcpChallenge } from './oauth.ts'
import { traceparentOf } from './observe-requests.ts'
import { hangUpOf } from './request.ts'
import type { Route } from './route.ts'

export const mcpRoute = { method: 'POST', url: '/mcp' } as const

/** Arguments of tools are short. A larger body would wait until the account has no other large one. */
const bodyLimit = {
  bytes: 65_536,
  refusal: () => new Refusal('body_too_large', 'A message has at most 65536 bytes.'),
}

export type McpOptions = {
  readonly db: Reader
  /** origins whose pages may call the service */
  readonly corsOrigins: readonly string[]
  /** where browsers reach the service; null: the origin that a request names */
  readonly publicUrl: string | null
}

export function addMcp(
  app: FastifyInstance,
  table: readonly Route[],
  service: Service,
  { db, corsOrigins, publicUrl }: McpOptions,
): void {
  const { admission, admitted, connections, now } = service
  const carryOut = innerRequests(table, service)
  app.route({
    ...mcpRoute,
    config: { bodyLimit },
    onRequest: async request => {
      const asked = await admitAgent(admission, request, publicUrl)
      admitted.set(request, asked)
      refuseOtherOrigins(request, asked, corsOrigins)
      connections.trust(request.raw.socket)
    },
    handler: async (request, reply) => {
      const asked = admitted.get(request) as AuthenticatedRequest
      const { caller, client: browser, rateLimitHeaders, release } = asked
      const [account, token] = [caller.catalog.account.id, caller.token!.id]
      const message = request.body as Json | undefined
      // From now on it mostly waits for requests that are admitted themselves.
      release()
      const client = await noteAgent(db, account, token, agentNameOf(message))
      const outer = {
        ...{ admitted: asked, requestId: request.id, traceparent: traceparentOf(request) },
        ...{ client, log: request.log },
        hungUp: () => hangUpOf(reply.raw),
      }
      const api: Api = {
        ...{ caller, now: now(), origin: browser.origin, changes: changesOf(db, account, token) },
        call: (call: Call) => carryOut(outer, call),
      }
      const answer = await answered(request, message, api)
      return send(reply, request, answer, connections, rateLimitHeaders)
    },
  })
}

/**
 * Agents have tokens, which are listed and can be revoked one by one. Who has none learns how to ask for one
 * (D170).
 */
async function admitAgent(
  { admit }: Admission,
  request: FastifyRequest,
  publicUrl: string | null,
): Promise<AuthenticatedRequest> {
  try {
    const asked = await admit(request, 'any')
    if (!asked.caller.session) return asked
    asked.release()
    throw new Refusal('unauthenticated', 'Agents need a token: send "Authorization: Bearer <token>".')
  } catch (error) {
    if (!(error instanceof Refusal && error.slug === 'unauthenticated')) throw error
    const { slug, message, problems, headers } = error
    const challenge = mcpChallenge(clientOf(request, publicUrl).origin)
    throw new Refusal(slug, message, problems, { ...headers, ...challenge })
  }
}

/** Prevents DNS rebinding: a browser's page of another origin is refused. */
function refuseOtherOrigins(
  { headers: { origin } }: FastifyRequest,
  { client }: AuthenticatedRequest,
  allowed: readonly string[],
): void {
  if (origin === undefined || origin === client.origin || allowed.includes(origin)) return
  const message = 'Pages of that origin may not call the service: CORS_ORIGINS names those that may.'
  throw new Refusal('forbidden', message)
}

type Handler = ReturnType<typeof import('../mcp/server.ts')['httpHandler']>

/** The SDK is loaded with the first request, because it takes longer than the rest of the service. */
let handler: Promise<Handler> | null = null

async function answered(request: FastifyRequest, message: Json | undefined, api: Api): Promise<Answer> {
  handler ??= import('../mcp/server.ts').then(({ httpHandler }) =>
    httpHandler(error => request.log.debug({ err: error }, 'message refused')),
  )
  const { fetch } = await handler
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && /^(accept|content-type|mcp-.*)$/.test(name) ? [[name, value]] : [],
  )
  const response = await fetch(
    new Request(`${api.origin}${mcpRoute.url}`, { method: mcpRoute.method, headers }),
    {
      ...(message === undefined ? {} : { parsedBody: message }),
      authInfo: { token: '', clientId: '', scopes: [], extra: { api } },
    },
  )
  const type = response.headers.get('content-type')
  return {
    status: response.status,
    headers: type ? { 'content-type': type } : {},
    body: await response.text(),
  }
}
