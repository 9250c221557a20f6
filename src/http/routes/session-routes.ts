/** The routes of sign-in, of sessions, and of the caller (D61, D66, D134). */
import type { Database } from '../../db/open.ts'
import type { ErrorSlug } from '../../errors.ts'
import { arrayOf, closedObject, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { dryRunParameter, envelope, ok, queryParameter, warningsMeta } from '../openapi/operation.ts'
import { type AccountRoute, type AnonymousRoute, base, type Route, route } from '../route.ts'
import { meHandlers } from './me.ts'
import { type OpenId, openIdHandlers, ownPath } from './openid.ts'
import { type SessionService, sessionHandlers, signInHandler, signInLimit } from './sessions.ts'

/** `openId`: null without a provider. */
export function sessionRoutes(
  service: SessionService & { readonly db: Database },
  openId: OpenId | null,
): Route[] {
  return [
    ...signInRoutes(service, openId),
    ...callerRoutes(service),
    ...ownRoutes(service),
    linkRoute(service),
  ]
}

const tag = 'session'
const guest = { scope: 'public', bodyLimit: signInLimit } as const
const caller = envelope(schemaRef('caller'))
const counted: readonly ErrorSlug[] = ['rate_limited', 'database_unavailable']
const provided: readonly ErrorSlug[] = ['route_not_found', 'provider_unavailable']
const redirect = {
  ...{ status: 302, description: 'Redirect.', schema: null },
  headers: ['location', 'set-cookie'],
}

/** Routes without a known caller. */
function signInRoutes(service: SessionService, openId: OpenId | null): AnonymousRoute[] {
  const provider = openIdHandlers(service.signIn, openId)
  const ways = {
    ...{ type: 'object', required: ['password', 'openid'] },
    properties: { password: { const: true }, openid: { type: 'boolean' } },
  }
  return [
    {
      ...{ ...guest, method: 'POST', url: `${base}/session`, anonymousHandler: signInHandler(service) },
      operation: {
        ...{ id: 'session_create', summary: 'Signs in, by a password or a link.', tag },
        body: { schema: schemaRef('sign_in') },
        responses: [
          { status: 201, description: 'Who is signed in.', schema: caller, headers: ['set-cookie'] },
        ],
        errors: [
          ...counted,
          ...(['unknown_parameter', 'forbidden', 'validation_failed', 'sign_in_failed'] as const),
          ...(['unauthenticated', 'link_ended', 'account_needed'] as const),
        ],
      },
    },
    {
      ...{ ...guest, method: 'GET', url: `${base}/session/ways`, anonymousHandler: provider.ways },
      operation: {
        ...{ id: 'session_ways', summary: 'By what people can sign in.', tag },
        responses: [ok('Whether a provider of OpenID is set up.', envelope(ways))],
        errors: ['rate_limited', 'unknown_parameter', 'malformed_query'],
      },
    },
    {
      ...{ ...guest, method: 'GET', url: `${base}/session/openid`, anonymousHandler: provider.begin },
      operation: {
        ...{ id: 'session_openid', summary: 'Begins to sign in by the OpenID provider.', tag },
        parameters: [
          queryParameter('account', 'The account in which to sign in.', {
            ...{ type: 'string', pattern: '^\\d{1,15}$' },
          }),
          queryParameter('to', 'The path of the service to which signing in leads.', {
            ...{ type: 'string', pattern: ownPath.source },
          }),
        ],
        responses: [redirect],
        errors: [...provided, 'rate_limited', 'unknown_parameter', 'malformed_query'],
      },
    },
    {
      ...{ ...guest, method: 'GET', url: `${base}/session/openid/callback`, anonymousHandler: provider.end },
      operation: {
        ...{ id: 'session_openid_end', summary: 'Comes back from the OpenID provider.', tag },
        responses: [redirect],
        errors: [...counted, ...provided, 'forbidden', 'unauthenticated', 'account_needed'],
      },
    },
  ]
}

function callerRoutes({ db, callers }: SessionService & { readonly db: Database }): AccountRoute[] {
  const me = meHandlers(db, callers)
  const responses = [ok('Who asks.', caller, ['set-cookie'])]
  return [
    route('GET', `${base}/session`, 'any', me.get, {
      ...{ id: 'session_get', summary: 'Says who is signed in.', tag, responses, errors: [] },
    }),
    route('GET', `${base}/me`, 'any', me.get, {
      ...{ id: 'me', summary: 'Says who asks, and what they may do.', tag, responses, errors: [] },
      description: 'Give user.id where a field takes the user who asks.',
    }),
    route('PATCH', `${base}/me`, 'any', me.change, {
      ...{ id: 'me_update', summary: 'Changes how dates and numbers are shown to whoever asks.', tag },
      parameters: dryRunParameter,
      description: 'What is not given stays as it is; null is as the account or the browser has it.',
      body: { schema: schemaRef('own_settings') },
      responses: [ok('Who asks.', envelope(schemaRef('caller'), schemaRef('write_meta')))],
      errors: ['validation_failed'],
      takesKey: true,
    }),
  ]
}

/** The caller's own sessions and password. */
function ownRoutes(service: SessionService): AccountRoute[] {
  const { signOut, list, end, changePassword } = sessionHandlers(service)
  const ended = envelope(schemaRef('deletion'))
  const secret = { type: 'string', minLength: 1 }
  return [
    route('DELETE', `${base}/session`, 'any', signOut, {
      ...{ id: 'session_end', summary: 'Signs out.', tag, errors: ['record_not_found'] },
      responses: [ok('The session has ended.', ended, ['set-cookie'])],
    }),
    route('GET', `${base}/session/list`, 'any', list, {
      ...{ id: 'session_list', summary: 'Lists the sessions of whoever asks.', tag, errors: [] },
      responses: [ok('The sessions.', envelope(arrayOf(schemaRef('session'))))],
    }),
    route('DELETE', `${base}/session/:id`, 'any', end, {
      ...{ id: 'session_delete', summary: 'Ends a session.', tag, errors: ['record_not_found'] },
      responses: [ok('The session has ended.', ended)],
    }),
    route('PUT', `${base}/me/password`, 'any', changePassword, {
      ...{ id: 'password_replace', summary: 'Changes the password of whoever asks.', tag },
      description: 'Only an administrator who has none yet may leave out the current one.',
      body: { schema: closedObject({ current_password: secret, password: secret }, ['password']) },
      responses: [ok('It is changed.', envelope(openObject({ changed: { const: true } })))],
      errors: ['validation_failed', 'sign_in_failed'],
    }),
  ]
}

function linkRoute(service: SessionService): AccountRoute {
  const { createLink } = sessionHandlers(service)
  return route('POST', `${base}/user/:id/link`, 'admin', createLink, {
    ...{ id: 'user_link', summary: 'Makes a link by which a user sets a password.', tag: 'user' },
    body: { schema: closedObject({ purpose: { enum: ['invitation', 'reset'] } }, ['purpose']) },
    responses: [{ status: 201, description: 'The link.', schema: envelope(schemaRef('link'), warningsMeta) }],
    errors: ['record_not_found', 'validation_failed'],
  })
}
