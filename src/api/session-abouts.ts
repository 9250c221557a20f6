/** What the routes of sign-in and for everybody are, for the OpenAPI document (D90). */
import type { ErrorSlug } from '../errors.ts'
import { type About, enveloped, named, ok, tried, warned } from '../openapi/about.ts'
import { ownPath } from './openid.ts'

type Abouts<Operation extends string> = { readonly [operation in Operation]: About }

/** Who signs in, and with what. */
export function sessionAbouts(): Abouts<
  | 'signIn'
  | 'ways'
  | 'begin'
  | 'end'
  | 'get'
  | 'me'
  | 'changeMe'
  | 'signOut'
  | 'list'
  | 'remove'
  | 'changePassword'
  | 'createLink'
> {
  const tag = 'session'
  const caller = enveloped(named('caller'))
  const counted: readonly ErrorSlug[] = ['rate_limited', 'database_unavailable']
  const redirect = {
    status: 302,
    description: 'Where to go on.',
    schema: null,
    headers: ['location', 'set-cookie'],
  }
  const provider: readonly ErrorSlug[] = ['route_not_found', 'provider_unavailable']
  const secret = { type: 'string', minLength: 1 }
  return {
    signIn: {
      ...{ id: 'session_create', summary: 'Signs in, by a password or a link.', tag },
      body: { schema: named('sign_in') },
      answers: [{ status: 201, description: 'Who is signed in.', schema: caller, headers: ['set-cookie'] }],
      refuses: [
        ...counted,
        'unknown_parameter',
        'forbidden',
        'validation_failed',
        'sign_in_failed',
        'unauthenticated',
        'link_ended',
        'account_needed',
      ],
    },
    ways: {
      ...{ id: 'session_ways', summary: 'By what people can sign in.', tag },
      answers: [
        {
          status: 200,
          description: 'Whether a provider of OpenID is set up.',
          schema: enveloped({
            type: 'object',
            required: ['password', 'openid'],
            properties: { password: { const: true }, openid: { type: 'boolean' } },
          }),
        },
      ],
      refuses: ['rate_limited', 'unknown_parameter', 'malformed_query'],
    },
    begin: {
      ...{ id: 'session_openid', summary: 'Begins to sign in by the OpenID provider.', tag },
      parameters: [
        {
          ...{ name: 'account', in: 'query', description: 'The account in which to sign in.' },
          schema: { type: 'string', pattern: '^\\d{1,15}$' },
        },
        {
          ...{ name: 'to', in: 'query', description: 'The path of the service to which signing in leads.' },
          schema: { type: 'string', pattern: ownPath.source },
        },
      ],
      answers: [redirect],
      refuses: [...provider, 'rate_limited', 'unknown_parameter', 'malformed_query'],
    },
    end: {
      ...{
        id: 'session_openid_end',
        summary: 'Comes back from the OpenID provider.',
        tag,
        answers: [redirect],
      },
      refuses: [...counted, ...provider, 'forbidden', 'unauthenticated', 'account_needed'],
    },
    get: {
      ...{ id: 'session_get', summary: 'Says who is signed in.', tag, refuses: [] },
      answers: [ok('Who asks.', caller, ['set-cookie'])],
    },
    me: {
      ...{ id: 'me', summary: 'Says who asks, and what they may do.', tag },
      description: 'Give user.id where a field takes the user who asks.',
      answers: [ok('Who asks.', caller, ['set-cookie'])],
      refuses: [],
    },
    changeMe: {
      ...{ id: 'me_update', summary: 'Changes how dates and numbers are shown to whoever asks.', tag },
      parameters: tried,
      description: 'What is not given stays as it is; null is as the account or the browser has it.',
      body: { schema: named('own_settings') },
      answers: [ok('Who asks.', enveloped(named('caller'), named('write_meta')))],
      refuses: ['validation_failed', 'version_conflict'],
      takesKey: true,
    },
    signOut: {
      ...{ id: 'session_end', summary: 'Signs out.', tag, refuses: ['record_not_found'] },
      answers: [ok('The session has ended.', enveloped(named('deletion')), ['set-cookie'])],
    },
    list: {
      ...{ id: 'session_list', summary: 'Lists the sessions of whoever asks.', tag, refuses: [] },
      answers: [ok('The sessions.', enveloped({ type: 'array', items: named('session') }))],
    },
    remove: {
      ...{ id: 'session_delete', summary: 'Ends a session.', tag, refuses: ['record_not_found'] },
      answers: [ok('The session has ended.', enveloped(named('deletion')))],
    },
    changePassword: {
      ...{ id: 'password_replace', summary: 'Changes the password of whoever asks.', tag },
      description: 'Only an administrator who has none yet may leave out the current one.',
      body: {
        schema: {
          type: 'object',
          properties: { current_password: secret, password: secret },
          required: ['password'],
          additionalProperties: false,
        },
      },
      answers: [
        ok(
          'It is changed.',
          enveloped({ type: 'object', properties: { changed: { const: true } }, required: ['changed'] }),
        ),
      ],
      refuses: ['validation_failed', 'sign_in_failed'],
    },
    createLink: {
      ...{ id: 'user_link', summary: 'Makes a link by which a user sets a password.', tag: 'user' },
      body: {
        schema: {
          type: 'object',
          properties: { purpose: { enum: ['invitation', 'reset'] } },
          required: ['purpose'],
          additionalProperties: false,
        },
      },
      answers: [{ status: 201, description: 'The link.', schema: enveloped(named('link'), warned) }],
      refuses: ['record_not_found', 'validation_failed', 'version_conflict'],
    },
  }
}

/** For people, and for the programs that watch the service. */
export function publicAbouts(): Abouts<'docs' | 'errors' | 'page' | 'alive' | 'ready' | 'openApi'> {
  const tag = 'service'
  const page = { ...ok('A page.', { type: 'string' }), mediaType: 'text/html; charset=utf-8' }
  const says = (word: string) => ({
    type: 'object',
    properties: { status: { const: word } },
    required: ['status'],
  })
  return {
    docs: { ...{ id: 'docs', summary: 'The documentation, for people.', tag, refuses: [] }, answers: [page] },
    errors: { ...{ id: 'errors', summary: 'The errors, for people.', tag, refuses: [] }, answers: [page] },
    page: {
      ...{ id: 'docs_page', summary: 'A page of the documentation, for people.', tag },
      ...{ answers: [page], refuses: ['route_not_found'] },
    },
    alive: {
      ...{ id: 'alive', summary: 'Says that the service runs.', tag, refuses: [] },
      answers: [ok('It runs.', says('alive'))],
    },
    ready: {
      ...{ id: 'ready', summary: 'Says whether the database answers.', tag, refuses: [] },
      answers: [
        ok('It answers.', says('ready')),
        { status: 503, description: 'It does not answer.', schema: says('not ready') },
      ],
    },
    openApi: {
      ...{ id: 'openapi', summary: 'This document, for whoever asks.', tag },
      answers: [
        ok('The document.', {
          type: 'object',
          properties: { openapi: { const: '3.1.1' } },
          additionalProperties: true,
          required: ['openapi'],
        }),
      ],
      refuses: ['unauthenticated', 'rate_limited', 'database_unavailable', 'unknown_parameter'],
    },
  }
}
