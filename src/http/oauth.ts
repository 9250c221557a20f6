/**
 * OAuth for agents (D170): where they learn how to ask for access, and where they exchange a code for a
 * token. The person allows it on a page of the web UI (routes/authorizations.ts). Errors have OAuth's own
 * form.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Callers } from '../accounts/callers.ts'
import { accesses } from '../accounts/oauth/access.ts'
import { registerClient } from '../accounts/oauth/clients.ts'
import { exchangeCode } from '../accounts/oauth/exchange.ts'
import { Refusal } from '../errors.ts'
import { isObject, type Json } from '../json.ts'
import { removeRecord } from '../records/remove.ts'
import type { Transaction } from '../records/store.ts'
import { workOn } from '../records/work.ts'
import type { AdmittedRequest } from './admission.ts'
import type { Answer } from './answer.ts'
import { readBody } from './body.ts'
import { type Service, send } from './endpoints.ts'

/** The page on which a person allows it. */
const page = '/connect'
const [tokenUrl, registerUrl, revokeUrl] = ['/oauth/token', '/oauth/register', '/oauth/revoke'] as const
const form = 'application/x-www-form-urlencoded'

const protectedResource = '/.well-known/oauth-protected-resource'
const authorizationServer = '/.well-known/oauth-authorization-server'

/** For what knows all paths. */
export const oauthRoutes = [
  ...[protectedResource, `${protectedResource}/mcp`, authorizationServer].map(
    url => ({ method: 'GET', url }) as const,
  ),
  ...[tokenUrl, registerUrl, revokeUrl].map(url => ({ method: 'POST', url }) as const),
]

/** Parameters are short. */
const bodyLimit = {
  bytes: 16_384,
  refusal: () => new Refusal('body_too_large', 'The parameters have at most 16384 bytes.'),
}

export type OAuthOptions = { readonly db: Transaction; readonly callers: Callers }

/** An error in OAuth's own form (RFC 6749 §5.2). */
class OAuthError extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.error = error
  }
}

/** The challenge of a request to /mcp without a valid token: where to learn how to get one (RFC 9728). */
export function mcpChallenge(origin: string): Readonly<Record<string, string>> {
  return { 'www-authenticate': `Bearer resource_metadata="${origin}${protectedResource}/mcp"` }
}

type Asked = AdmittedRequest & {
  readonly requestId: string
  readonly body: Json
  readonly form: URLSearchParams
}

export function addOAuth(app: FastifyInstance, service: Service, options: OAuthOptions): void {
  const { now } = service
  const resource = async ({ client: { origin } }: Asked) => json(resourceMetadata(origin))
  add(app, service, 'GET', protectedResource, resource)
  add(app, service, 'GET', `${protectedResource}/mcp`, resource)
  add(app, service, 'GET', authorizationServer, async ({ client: { origin } }) =>
    json(serverMetadata(origin)),
  )
  add(app, service, 'POST', registerUrl, async ({ body }) => register(body))
  add(app, service, 'POST', tokenUrl, asked => exchange(options, asked, now()))
  add(app, service, 'POST', revokeUrl, asked => revoke(options, asked))
}

function add(
  app: FastifyInstance,
  { admission, admitted, connections }: Service,
  method: 'GET' | 'POST',
  url: (typeof oauthRoutes)[number]['url'],
  handler: (asked: Asked) => Promise<Answer>,
): void {
  const takesForm = url === tokenUrl || url === revokeUrl
  app.route({
    ...{ method, url },
    config: { bodyLimit, ...(takesForm ? { uploads: [form] } : {}) },
    onRequest: async request => void admitted.set(request, admission.admitAnonymous(request)),
    handler: async (request, reply) => {
      const asked = admitted.get(request) as AdmittedRequest
      try {
        const fields = takesForm ? await formOf(request, asked) : new URLSearchParams()
        const body = takesForm ? null : (request.body as Json)
        const answer = await handler({ ...asked, requestId: request.id, body, form: fields }).catch(answerOf)
        return send(reply, request, answer, connections, asked.rateLimitHeaders)
      } finally {
        asked.release()
      }
    },
  })
}

async function formOf(request: FastifyRequest, { reserveBytes }: AdmittedRequest): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(request.raw, bodyLimit, reserveBytes)).toString('utf8'))
}

function json(body: object, status = 200): Answer {
  return { status, body: JSON.stringify(body) }
}

/** Refusals of what a program sent have OAuth's form; others, such as `rate_limited`, their own. */
function answerOf(error: unknown): Answer {
  if (error instanceof OAuthError) return json({ error: error.error, error_description: error.message }, 400)
  if (error instanceof Refusal && error.slug === 'validation_failed') {
    const [problem] = error.problems
    const name = problem?.field === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata'
    return json({ error: name, error_description: problem?.message ?? error.message }, 400)
  }
  throw error
}

function resourceMetadata(origin: string) {
  return {
    resource: `${origin}/mcp`,
    authorization_servers: [origin],
    bearer_methods_supported: ['header'],
    // Programs ask for all that stands here.
    scopes_supported: accesses.filter(access => access !== 'write_at_once'),
    resource_name: 'Dealwright CRM',
  }
}

function serverMetadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}${page}`,
    token_endpoint: `${origin}${tokenUrl}`,
    registration_endpoint: `${origin}${registerUrl}`,
    revocation_endpoint: `${origin}${revokeUrl}`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    scopes_supported: accesses,
  }
}

function register(body: Json): Answer {
  if (!isObject(body)) throw new OAuthError('invalid_client_metadata', 'Send a JSON object.')
  const { id, name, redirectUris } = registerClient(body)
  return json(
    {
      client_id: id,
      client_name: name,
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
    201,
  )
}

/** The parameter of a form that must be given once. */
function single(fields: URLSearchParams, name: string): string {
  const values = fields.getAll(name)
  if (values.length === 1 && values[0]) return values[0]
  throw new OAuthError('invalid_request', `${name} must be given once.`)
}

async function exchange({ db, callers }: OAuthOptions, asked: Asked, now: Date): Promise<Answer> {
  const { form: fields, client, requestId } = asked
  if (single(fields, 'grant_type') !== 'authorization_code')
    throw new OAuthError('unsupported_grant_type', 'The only grant_type is authorization_code.')
  if (!fields.getAll('resource').every(resource => isResource(resource, client.origin)))
    throw new OAuthError('invalid_target', `The only resource is ${client.origin}/mcp.`)
  const issued = await exchangeCode(
    db,
    callers,
    {
      code: single(fields, 'code'),
      clientId: single(fields, 'client_id'),
      redirectUri: single(fields, 'redirect_uri'),
      verifier: single(fields, 'code_verifier'),
      requestId,
      traceparent: client.traceparent,
    },
    now,
  ).catch(error => {
    if (error instanceof Refusal && error.slug === 'forbidden') return null
    throw error
  })
  if (!issued)
    throw new OAuthError('invalid_grant', 'The code is unknown, used, over or of another program: ask anew.')
  const { token, scopes, expiresIn } = issued
  return json({
    ...{ access_token: token, token_type: 'Bearer', scope: scopes.join(' ') },
    ...(expiresIn === null ? {} : { expires_in: expiresIn }),
  })
}

/** True if a program means /mcp of this service (RFC 8707). */
export function isResource(resource: string, origin: string): boolean {
  return [origin, `${origin}/`, `${origin}/mcp`, `${origin}/mcp/`].includes(resource)
}

/** Ends a token (RFC 7009); one that is unknown is ended already. */
async function revoke({ db, callers }: OAuthOptions, asked: Asked): Promise<Answer> {
  const { form: fields, requestId, client } = asked
  const secret = single(fields, 'token')
  const caller = await callers.identify(secret)
  if (caller?.token) {
    const context = { ...caller, requestId, traceparent: client.traceparent }
    await removeRecord(workOn(db, context, 'token'), caller.token.id)
    callers.forgetSecret(secret)
  }
  return json({})
}
