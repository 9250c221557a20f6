/** What the routes of every resource are, for the OpenAPI document (D90). */
import type { ErrorSlug } from '../errors.ts'
import { type About, created, deleted, enveloped, named, ok } from '../openapi/about.ts'
import { listBody, listNames } from '../openapi/parameters.ts'
import { historyAbout } from './event-abouts.ts'

export type RecordAbouts = {
  readonly [operation in
    | 'create'
    | 'list'
    | 'search'
    | 'get'
    | 'replace'
    | 'update'
    | 'remove'
    | 'restore'
    | 'getBy'
    | 'upsert'
    | 'history']: About
}

const moveTo = {
  name: 'move_to',
  in: 'query',
  description: 'The record to which what is in this one is moved first.',
  schema: { type: 'integer', minimum: 0 },
}

/** `moves`: whether a deletion may move what is in the record. */
export function recordAbouts(resource: string, moves: boolean): RecordAbouts {
  const tag = resource
  const expand = [`${resource}_expand`]
  const record = ok('The record.', recordOf(resource), ['etag'])
  const change: Omit<About, 'id' | 'summary'> = {
    tag,
    parameters: expand,
    body: { schema: named(`${resource}_input`) },
    answers: [record],
    refuses: ['record_not_found', ...saving, 'version_conflict'],
    ifMatch: true,
  }
  const words = resource.replaceAll('_', ' ')
  return {
    create: {
      ...{ id: `${resource}_create`, summary: `Creates a ${words}.`, tag, parameters: expand },
      body: { schema: named(`${resource}_new`) },
      answers: [created(recordOf(resource))],
      refuses: [...saving, 'version_conflict'],
    },
    ...listAbouts(resource, words),
    get: {
      ...{ id: `${resource}_get`, summary: `Reads a ${words}.`, tag, parameters: expand },
      answers: [record],
      refuses: ['record_not_found'],
    },
    history: historyAbout(resource, words),
    getBy: {
      ...{
        id: `${resource}_get_by`,
        summary: `Reads the ${words} that has a unique value.`,
        tag,
        parameters: expand,
      },
      answers: [record],
      refuses: ['record_not_found', 'malformed_query', 'malformed_path'],
    },
    upsert: {
      ...{ ...change, id: `${resource}_upsert` },
      summary: `Changes the ${words} that has a unique value, or creates it.`,
      answers: [record, created(recordOf(resource))],
      refuses: [...saving, 'malformed_query', 'malformed_path', 'version_conflict'],
    },
    replace: { ...change, id: `${resource}_replace`, summary: `Changes a ${words}, as PATCH does.` },
    update: { ...change, id: `${resource}_update`, summary: `Changes a ${words}: what is left out stays.` },
    remove: {
      ...{ id: `${resource}_delete`, summary: `Deletes a ${words}.`, tag },
      ...(moves ? { parameters: [moveTo] } : {}),
      answers: [deleted],
      refuses: ['record_not_found', 'in_use', 'last_administrator', 'validation_failed', 'version_conflict'],
      ifMatch: true,
    },
    restore: {
      ...{ id: `${resource}_restore`, summary: `Restores a deleted ${words}.`, tag, parameters: expand },
      answers: [record],
      refuses: ['record_not_found', ...saving, 'version_conflict'],
      ifMatch: true,
    },
  }
}

function listAbouts(resource: string, words: string): Pick<RecordAbouts, 'list' | 'search'> {
  const page = ok(
    'A page of records.',
    enveloped({ type: 'array', items: named(resource) }, named('page_meta'), true),
  )
  const list: Omit<About, 'id' | 'summary'> = {
    ...{ tag: resource, parameters: listNames(resource), answers: [page] },
    refuses: ['history_too_short'],
  }
  return {
    list: { ...list, id: `${resource}_list`, summary: `Lists records: ${words}.` },
    search: {
      ...{ ...list, id: `${resource}_search` },
      summary: `Lists records with the parameters in the body: ${words}.`,
      body: { schema: listBody(), isOptional: true },
    },
  }
}

const saving: readonly ErrorSlug[] = ['validation_failed', 'duplicate', 'last_administrator']

function recordOf(resource: string) {
  return enveloped(named(`${resource}_read`), named('write_meta'))
}

/** Sums over the records of a resource (D85). */
export function aggregateAbouts(resource: string): { readonly [operation in 'get' | 'post']: About } {
  const meta = {
    type: 'object',
    properties: { group_by: { type: ['string', 'null'] }, hasMore: { type: 'boolean' } },
    required: ['group_by', 'hasMore'],
  }
  const data = { type: 'array', items: named('aggregate_group') }
  const parameters = [`${resource}_group_by`, 'measures', 'filter', 'deleted', 'as_of']
  const asked = {
    ...{ tag: resource, parameters, refuses: ['history_too_short'] as const },
    answers: [
      { status: 200, description: 'The groups, the largest first.', schema: enveloped(data, meta, true) },
    ],
  }
  const dayOrNull = { type: ['string', 'null'], format: 'date' }
  const listed = { type: ['string', 'array', 'null'], items: { type: 'string' } }
  const properties = {
    group_by: listed,
    measures: listed,
    filter: listed,
    deleted: { enum: ['only', null] },
    as_of: dayOrNull,
  }
  return {
    get: { ...asked, id: `${resource}_aggregate`, summary: `Sums records: ${resource}.` },
    post: {
      ...{ ...asked, id: `${resource}_aggregate_post` },
      summary: `Sums records, with the parameters in the body: ${resource}.`,
      body: { schema: { type: 'object', properties, additionalProperties: false }, isOptional: true },
    },
  }
}

/** GET /search */
export const searchAbout: About = {
  ...{ id: 'search', summary: 'Searches deals, contacts, companies and products.', tag: 'search' },
  parameters: ['q', 'searched', 'search_size'],
  answers: [
    {
      ...{ status: 200, description: 'What was found, the best first.' },
      schema: enveloped(
        { type: 'array', items: named('search_hit') },
        {
          type: 'object',
          properties: { pageSize: { type: 'integer' }, hasMore: { type: 'boolean' } },
          required: ['pageSize', 'hasMore'],
        },
        true,
      ),
    },
  ],
  refuses: [],
}

/** Making or rotating a token answers its secret once. */
export function tokenAbouts(): { readonly [operation in 'create' | 'rotate' | 'me']: About } {
  const { create } = recordAbouts('token', false)
  const secret = {
    ...named('token_read'),
    properties: { token: { type: ['string', 'null'], description: 'The secret, which is shown this once.' } },
    required: ['token'],
  }
  const { parameters: _, ...made } = create
  return {
    create: { ...made, answers: [created(enveloped(secret, named('write_meta')))] },
    rotate: {
      ...{ id: 'token_rotate', summary: 'Gives a token a new secret.', tag: 'token' },
      body: {
        schema: {
          type: 'object',
          properties: { overlap_hours: { type: ['integer', 'null'], minimum: 0, maximum: 24 } },
          additionalProperties: false,
        },
        isOptional: true,
      },
      answers: [
        {
          ...{ status: 200, description: 'The token with its new secret.' },
          schema: enveloped(secret, named('write_meta')),
          headers: ['etag'],
        },
      ],
      refuses: ['record_not_found', 'validation_failed', 'version_conflict'],
      ifMatch: true,
    },
    me: {
      ...{ id: 'me', summary: 'Says who asks, and what they may do.', tag: 'session' },
      answers: [{ status: 200, description: 'Who asks.', schema: enveloped(named('caller')) }],
      refuses: [],
    },
  }
}
