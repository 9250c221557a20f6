/** What the routes of fields, of sign-in and for everybody are, for the OpenAPI document (D90). */
import type { ErrorSlug } from '../errors.ts'
import type { Schema } from '../fields/field.ts'
import { type About, type Answered, enveloped, named } from '../openapi/about.ts'

type Abouts<Operation extends string> = { readonly [operation in Operation]: About }

const changing: readonly ErrorSlug[] = ['validation_failed', 'duplicate', 'version_conflict']
const warned = {
  type: 'object',
  properties: { warnings: { type: 'array', items: named('warning') } },
  required: ['warnings'],
}

function ok(description: string, schema: Schema, headers: readonly string[] = []): Answered {
  return { status: 200, description, schema, headers }
}

function made(schema: Schema): Answered {
  return { status: 201, description: 'It is created.', schema, headers: ['etag', 'location'] }
}

const deleted = ok('It is deleted.', enveloped(named('deletion')))

type FieldOperation =
  | 'list'
  | 'dropdown'
  | 'form'
  | 'arrange'
  | 'create'
  | 'get'
  | 'replace'
  | 'update'
  | 'remove'
  | 'restore'
  | 'createOption'
  | 'replaceOption'
  | 'updateOption'
  | 'removeOption'

/** Fields, their options, and the forms that show them. */
export function fieldAbouts(): Abouts<FieldOperation> {
  const tag = 'field'
  const field = enveloped(named('field'), warned)
  const update: Omit<About, 'id'> = {
    ...{ tag, summary: 'Changes a field: what is left out stays.', ifMatch: true },
    body: { schema: named('field_input') },
    answers: [ok('The field.', field, ['etag'])],
    refuses: ['field_not_found', 'record_not_found', ...changing],
  }
  return {
    create: {
      ...{ id: 'field_create', summary: 'Creates a custom field.', tag },
      body: { schema: named('field_new') },
      answers: [made(field)],
      refuses: changing,
    },
    get: {
      ...{ id: 'field_get', summary: 'Reads a field.', tag },
      answers: [ok('The field.', field, ['etag'])],
      refuses: ['field_not_found', 'record_not_found'],
    },
    replace: { ...update, id: 'field_replace', summary: 'Changes a field, as PATCH does.' },
    update: { ...update, id: 'field_update' },
    remove: {
      ...{ id: 'field_delete', summary: 'Deletes a custom field.', tag, ifMatch: true },
      answers: [deleted],
      refuses: ['field_not_found', 'record_not_found', 'in_use', ...changing],
    },
    restore: {
      ...{ id: 'field_restore', summary: 'Restores a deleted field.', tag, ifMatch: true },
      answers: [ok('The field.', field, ['etag'])],
      refuses: ['field_not_found', 'record_not_found', ...changing],
    },
    ...metadataAbouts(),
    ...optionAbouts(),
  }
}

function metadataAbouts(): Abouts<'list' | 'dropdown' | 'form' | 'arrange'> {
  const tag = 'field'
  const flag = { enum: ['true', 'false'] }
  const asked = (name: string, description: string, schema: Schema, more: Schema = {}) => ({
    ...{ name, in: 'query', description, schema },
    ...more,
  })
  const form = ok('The form.', enveloped(named('form')), ['etag'])
  return {
    list: {
      ...{ id: 'field_list', summary: 'Lists the fields of a resource, by the sections of its form.', tag },
      parameters: ['source', asked('include_deleted', 'Lists deleted fields too.', flag)],
      answers: [ok('The fields.', enveloped(named('field_list')))],
      refuses: ['field_not_found'],
    },
    dropdown: {
      ...{ id: 'field_dropdown', summary: 'Lists what a dropdown offers.', tag },
      parameters: [
        asked(
          'name',
          'The internal name of the field.',
          { type: 'string', minLength: 1 },
          { required: true },
        ),
        { $ref: '#/components/parameters/any_source' },
        asked('pipeline', 'Lists the stages of this pipeline only.', {
          type: 'string',
          pattern: '^\\d{1,15}$',
        }),
        asked('include_inactive', 'Lists options that are out of use too.', flag),
      ],
      answers: [
        ok('The options.', enveloped({ type: 'array', items: named('choice') }, named('choices_meta'), true)),
      ],
      refuses: ['field_not_found', 'not_a_dropdown', 'forbidden'],
    },
    form: {
      ...{ id: 'form_get', summary: 'Reads the form of a resource.', tag, parameters: ['source'] },
      answers: [form],
      refuses: ['field_not_found'],
    },
    arrange: {
      ...{ id: 'form_replace', summary: 'Arranges the form of a resource.', tag, parameters: ['source'] },
      body: { schema: named('form_input') },
      answers: [form],
      refuses: ['field_not_found', ...changing],
      ifMatch: true,
    },
  }
}

function optionAbouts(): Abouts<'createOption' | 'replaceOption' | 'updateOption' | 'removeOption'> {
  const option = enveloped(named('option'), warned)
  const change: Omit<About, 'id' | 'summary' | 'answers'> = {
    ...{ tag: 'field', ifMatch: true },
    body: { schema: named('option_input') },
    refuses: ['not_a_dropdown', 'field_not_found', 'record_not_found', ...changing],
  }
  const answers = [ok('The option.', option, ['etag'])]
  const create = { ...named('option_input'), required: ['name'] }
  return {
    createOption: {
      ...{ ...change, id: 'option_create', summary: 'Adds an option to a field.' },
      ...{ body: { schema: create }, answers: [made(option)] },
    },
    replaceOption: { ...change, id: 'option_replace', summary: 'Changes an option, as PATCH does.', answers },
    updateOption: {
      ...change,
      id: 'option_update',
      summary: 'Changes an option: what is left out stays.',
      answers,
    },
    removeOption: {
      ...{ id: 'option_delete', summary: 'Takes an option out of use.', tag: 'field', ifMatch: true },
      ...{
        answers: [deleted],
        refuses: ['not_a_dropdown', 'field_not_found', 'record_not_found', 'in_use', ...changing],
      },
    },
  }
}

/** Who signs in, and with what. */
export function sessionAbouts(): Abouts<
  'signIn' | 'begin' | 'end' | 'get' | 'signOut' | 'list' | 'remove' | 'changePassword' | 'createLink'
> {
  const tag = 'session'
  const caller = enveloped(named('caller'))
  const counted: readonly ErrorSlug[] = [
    'forbidden',
    'rate_limited',
    'database_unavailable',
    'unknown_parameter',
  ]
  const redirect = {
    status: 302,
    description: 'Where to go on.',
    schema: null,
    headers: ['location', 'set-cookie'],
  }
  const provider: readonly ErrorSlug[] = ['route_not_found', 'malformed_query', 'provider_unavailable']
  const secret = { type: 'string', minLength: 1 }
  return {
    signIn: {
      ...{ id: 'session_create', summary: 'Signs in, by a password or a link.', tag },
      body: { schema: named('sign_in') },
      answers: [{ status: 201, description: 'Who is signed in.', schema: caller, headers: ['set-cookie'] }],
      refuses: [
        ...counted,
        'validation_failed',
        'sign_in_failed',
        'unauthenticated',
        'link_ended',
        'account_needed',
      ],
    },
    begin: {
      ...{ id: 'session_openid', summary: 'Begins to sign in by the OpenID provider.', tag },
      parameters: [
        {
          ...{ name: 'account', in: 'query', description: 'The account in which to sign in.' },
          schema: { type: 'string', pattern: '^\\d{1,15}$' },
        },
      ],
      answers: [redirect],
      refuses: [...counted, ...provider],
    },
    end: {
      ...{
        id: 'session_openid_end',
        summary: 'Comes back from the OpenID provider.',
        tag,
        answers: [redirect],
      },
      refuses: [...counted, ...provider, 'unauthenticated', 'account_needed'],
    },
    get: {
      ...{ id: 'session_get', summary: 'Says who is signed in.', tag, refuses: [] },
      answers: [ok('Who asks.', caller)],
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
      body: {
        schema: {
          type: 'object',
          properties: { current_password: secret, password: secret },
          required: ['current_password', 'password'],
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
export function publicAbouts(): Abouts<'errors' | 'alive' | 'ready' | 'openApi'> {
  const tag = 'service'
  const says = (word: string) => ({
    type: 'object',
    properties: { status: { const: word } },
    required: ['status'],
  })
  return {
    errors: {
      ...{ id: 'errors', summary: 'The errors, for people.', tag, refuses: [] },
      answers: [{ ...ok('A page.', { type: 'string' }), mediaType: 'text/html; charset=utf-8' }],
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
