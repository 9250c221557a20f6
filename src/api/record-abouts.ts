/** What the routes of every resource are, for the OpenAPI document (D90). */
import type { ErrorSlug } from '../errors.ts'
import {
  type About,
  type Answered,
  created,
  deleted,
  enveloped,
  named,
  ok,
  refined,
  tried,
} from '../openapi/about.ts'
import { listBody, listNames } from '../openapi/parameters.ts'
import { takesDryRun } from './dry-run.ts'
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

/** What programs can't know from parameters and fields: of all resources, and of one. */
const hints = {
  create: 'Everything that is wrong is named at once. Nothing is saved before all is right.',
  change: 'What is left out stays, null clears a field, and arrays are replaced whole.',
  list: 'Answers have ids; expand adds the names behind them.',
}
const ownHints: { readonly [resource: string]: typeof hints } = {
  deal: {
    create: 'Contacts and companies that are not there yet are created with it.',
    change:
      'To win or lose a deal, set pipeline_stage to a stage of that kind, with won_reason or lost_reason and deal_closed_on, in one request. Product lines are in deal_value.products.',
    list: 'The deals that were won in March: filter=status:eq(Won),deal_closed_on:between(2026-03-01,2026-03-31).',
  },
}

function hintsOf(resource: string, operation: keyof typeof hints): string {
  const own = ownHints[resource]?.[operation]
  return own ? `${hints[operation]} ${own}` : hints[operation]
}

/** `moves`: whether a deletion may move what is in the record. */
export function recordAbouts(resource: string, moves: boolean): RecordAbouts {
  const tag = resource
  const expand = [`${resource}_expand`]
  const isTried = takesDryRun(resource) ? tried : []
  const written = [...expand, ...isTried]
  const record = ok('The record.', recordOf(resource), ['etag'])
  const changed = ok(
    'The record; to whoever may not read it, its id and version alone.',
    recordOf(resource),
    ['etag'],
  )
  const change: Omit<About, 'id' | 'summary'> = {
    tag,
    description: hintsOf(resource, 'change'),
    parameters: written,
    body: { schema: named(`${resource}_input`) },
    answers: [changed],
    refuses: ['record_not_found', ...saving, 'version_conflict'],
    ifMatch: true,
  }
  const [words, one] = wordsOf(resource)
  return {
    create: {
      ...{ id: `${resource}_create`, summary: `Creates ${one}.`, tag, parameters: written },
      description: hintsOf(resource, 'create'),
      body: { schema: named(`${resource}_new`) },
      answers: [created(recordOf(resource))],
      refuses: [...saving, 'version_conflict'],
    },
    ...listAbouts(resource, words),
    get: {
      ...{ id: `${resource}_get`, summary: `Reads ${one}.`, tag, parameters: expand },
      answers: [record],
      refuses: ['record_not_found'],
    },
    history: historyAbout(resource, one),
    ...byAbouts(resource, one, record, change),
    replace: { ...change, id: `${resource}_replace`, summary: `Changes ${one}, as PATCH does.` },
    update: { ...change, id: `${resource}_update`, summary: `Changes ${one}: what is left out stays.` },
    remove: {
      ...{ id: `${resource}_delete`, summary: `Deletes ${one}.`, tag },
      parameters: [...(moves ? [moveTo] : []), ...isTried],
      answers: [deleted],
      refuses: ['record_not_found', 'in_use', 'last_administrator', 'validation_failed', 'version_conflict'],
      ifMatch: true,
    },
    restore: {
      ...{ id: `${resource}_restore`, summary: `Restores a deleted ${words}.`, tag, parameters: written },
      answers: [changed],
      refuses: ['record_not_found', ...saving, 'version_conflict'],
      ifMatch: true,
    },
  }
}

/** What a record is called, and the same with its article. */
function wordsOf(resource: string): [string, string] {
  const words = resource.replaceAll('_', ' ')
  return [words, `${/^[aeio]/.test(words) ? 'an' : 'a'} ${words}`]
}

/** Of the record that has a unique value (D77); `change`: what changing any record is. */
function byAbouts(
  resource: string,
  one: string,
  record: Answered,
  change: Omit<About, 'id' | 'summary'>,
): Pick<RecordAbouts, 'getBy' | 'upsert'> {
  const where = 'The path has the name of a unique field and the value.'
  return {
    getBy: {
      ...{ id: `${resource}_get_by`, summary: `Reads ${one} by a unique value.`, tag: resource },
      ...{ description: where, parameters: [`${resource}_expand`], answers: [record] },
      refuses: ['record_not_found', 'malformed_query', 'malformed_path'],
    },
    upsert: {
      ...{ ...change, id: `${resource}_upsert` },
      summary: `Changes ${one} by a unique value, or creates it.`,
      description: `${where} ${hints.change} What creates it needs all required fields.`,
      answers: [...change.answers, created(recordOf(resource))],
      refuses: [...saving, 'malformed_query', 'malformed_path', 'version_conflict'],
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
    description: hintsOf(resource, 'list'),
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
    description:
      'One answer has the counts and sums of all records that the filter finds, or of each group of them.',
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
  description:
    'It looks in titles, names, e-mails, phone numbers and product codes. Lists look in all fields.',
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
export function tokenAbouts(): { readonly [operation in 'create' | 'rotate']: About } {
  const { create } = recordAbouts('token', false)
  const secret = refined('token_read', {
    token: { type: ['string', 'null'], description: 'The secret, which is shown this once.' },
  })
  const made = { ...create, parameters: tried }
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
  }
}
