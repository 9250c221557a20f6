/**
 * The routes that all resources share (the interface's Endpoints, D32, D37, D77). A resource that lacks some
 * lists the names of these operations.
 */
import type { Database } from '../../db/open.ts'
import type { ErrorSlug } from '../../errors.ts'
import type { Schema } from '../../fields/field.ts'
import { arrayOf, closedObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { queryBytesMax, queryTooLarge } from '../../lists/parameters.ts'
import type { BodyLimit } from '../body.ts'
import {
  created,
  deleted,
  dryRunParameter,
  envelope,
  type Operation,
  ok,
  queryParameter,
} from '../openapi/operation.ts'
import { listBody, listNames } from '../openapi/parameters.ts'
import { type AccountRoute, base, type Readable, route } from '../route.ts'
import { batchedResources, batchRoute } from './batch.ts'
import { takesDryRun, withDryRun } from './dry-run.ts'
import { historyRoute } from './events.ts'
import { mayReadReplica, type RecordHandlers, recordHandlers } from './record-reads.ts'
import { type WriteHandlers, type WriteService, writeHandlers } from './record-writes.ts'

export const queryLimit: BodyLimit = { bytes: queryBytesMax, refusal: queryTooLarge }

/** Dependencies of a resource's routes. */
export type RecordService = WriteService & { readonly db: Database }

/** In the order of the document. */
const recordOperations = [
  ...(['create', 'list', 'listByBody', 'batch', 'getBy', 'upsert'] as const),
  ...(['get', 'replace', 'update', 'remove', 'restore', 'history'] as const),
]
export type RecordOperation = (typeof recordOperations)[number]
type Routes<Name extends RecordOperation> = { readonly [operation in Name]: AccountRoute }

/** `without`: the operations that the resource lacks. */
export function recordRoutes(
  resource: Readable,
  service: RecordService,
  without: readonly RecordOperation[] = [],
): AccountRoute[] {
  const reads = recordHandlers(service.db, resource)
  const writes = writesOf(resource, service)
  const all: Partial<Routes<RecordOperation>> = {
    ...readRoutes(resource, reads),
    ...writeRoutes(resource, writes, service.planMoves !== undefined),
    ...byRoutes(resource, reads, writes),
    ...(batchedResources.has(resource)
      ? { batch: batchRoute(service.db, resource, service.retentionDays) }
      : {}),
    history: historyRoute(service.db, resource, withArticle(resource), service.retentionDays),
  }
  return recordOperations.flatMap(name => (without.includes(name) ? [] : (all[name] ?? [])))
}

function readRoutes(
  resource: Readable,
  { list, listByBody, get }: RecordHandlers,
): Routes<'list' | 'listByBody' | 'get'> {
  const [read, words] = [`${resource}:read`, wordsOf(resource)] as const
  const lists: Omit<Operation, 'id' | 'summary'> = {
    ...{ tag: resource, description: hintOf(resource, 'list') },
    parameters: [...listNames(resource), ...(mayReadReplica(resource) ? ['known_seq'] : [])],
    responses: [
      ok('A page of records.', envelope(arrayOf(schemaRef(resource)), schemaRef('page_meta'), true)),
    ],
    errors: ['history_too_short', 'malformed_request'],
  }
  return {
    list: route('GET', `${base}/${resource}/view/list`, read, list, {
      ...{ ...lists, id: `${resource}_list`, summary: `Lists records: ${words}.` },
    }),
    listByBody: {
      ...route('POST', `${base}/${resource}/view/list`, read, listByBody, {
        ...{ ...lists, id: `${resource}_search` },
        summary: `Lists records with the parameters in the body: ${words}.`,
        body: { schema: listBody(), isOptional: true },
      }),
      bodyLimit: queryLimit,
    },
    get: route('GET', `${base}/${resource}/:id`, read, get, {
      ...{ id: `${resource}_get`, summary: `Reads ${withArticle(resource)}.`, tag: resource },
      parameters: [`${resource}_expand`],
      responses: [ok('The record.', recordOf(resource), ['etag'])],
      errors: ['record_not_found'],
    }),
  }
}

function writeRoutes(
  resource: Readable,
  { create, update, remove, restore }: WriteHandlers,
  canMove: boolean,
): Routes<'create' | 'replace' | 'update' | 'remove' | 'restore'> {
  const [write, one] = [`${resource}:write`, `${base}/${resource}/:id`] as const
  const [change, noun] = [changeOperation(resource), withArticle(resource)]
  return {
    create: route('POST', `${base}/${resource}`, write, create, createOperation(resource)),
    replace: route('PUT', one, write, update, {
      ...{ ...change, id: `${resource}_replace`, summary: `Changes ${noun}, as PATCH does.` },
    }),
    update: route('PATCH', one, write, update, {
      ...{ ...change, id: `${resource}_update`, summary: `Changes ${noun}: what is left out stays.` },
    }),
    remove: route('DELETE', one, write, remove, {
      ...{ id: `${resource}_delete`, summary: `Deletes ${noun}.`, tag: resource, ifMatch: true },
      parameters: [...(canMove ? [moveTo] : []), ...dryRunOf(resource)],
      responses: [deleted],
      errors: ['record_not_found', 'in_use', 'last_administrator', 'validation_failed'],
    }),
    restore: route('POST', `${one}/restore`, write, restore, {
      ...{ id: `${resource}_restore`, summary: `Restores a deleted ${wordsOf(resource)}.`, tag: resource },
      parameters: [`${resource}_expand`, ...dryRunOf(resource)],
      responses: change.responses,
      errors: ['record_not_found', ...saving],
      ifMatch: true,
    }),
  }
}

/** Routes of the record with a unique value (D77). */
function byRoutes(
  resource: Readable,
  { getBy }: RecordHandlers,
  { upsert }: WriteHandlers,
): Routes<'getBy' | 'upsert'> {
  const [by, noun] = [`${base}/${resource}/by/:field/:value`, withArticle(resource)]
  const where = 'The path has the name of a unique field and the value.'
  const change = changeOperation(resource)
  return {
    getBy: route('GET', by, `${resource}:read`, getBy, {
      ...{ id: `${resource}_get_by`, summary: `Reads ${noun} by a unique value.`, tag: resource },
      ...{ description: where, parameters: [`${resource}_expand`] },
      responses: [ok('The record.', recordOf(resource), ['etag'])],
      errors: ['record_not_found', 'malformed_query', 'malformed_path'],
    }),
    upsert: route('PUT', by, `${resource}:write`, upsert, {
      ...{ ...change, id: `${resource}_upsert` },
      summary: `Changes ${noun} by a unique value, or creates it.`,
      description: `${where} ${hints.change} What creates it needs all required fields.`,
      responses: [...change.responses, created(recordOf(resource))],
      errors: [...saving, 'malformed_query', 'malformed_path'],
    }),
  }
}

function writesOf(resource: Readable, service: RecordService): WriteHandlers {
  const { db, onConfigurationChange } = service
  if (!takesDryRun(resource)) return writeHandlers(service)
  return withDryRun(db, (db, isDry) =>
    writeHandlers({ ...service, db, onConfigurationChange: isDry ? async () => {} : onConfigurationChange }),
  )
}

const saving: readonly ErrorSlug[] = ['validation_failed', 'duplicate', 'last_administrator']

export function createOperation(resource: string): Operation {
  return {
    ...{ id: `${resource}_create`, summary: `Creates ${withArticle(resource)}.`, tag: resource },
    description: hintOf(resource, 'create'),
    parameters: [`${resource}_expand`, ...dryRunOf(resource)],
    body: { schema: schemaRef(`${resource}_new`) },
    responses: [created(recordOf(resource))],
    errors: [...saving],
  }
}

/** The operation that gives a record a new secret. `hoursMax`: how long the old one may stay beside it. */
export function rotateOperation(resource: string, hoursMax: number, answer: Schema): Operation {
  const overlap_hours = { type: ['integer', 'null'], minimum: 0, maximum: hoursMax }
  return {
    ...{ id: `${resource}_rotate`, summary: `Gives a ${resource} a new secret.`, tag: resource },
    ifMatch: true,
    body: { schema: closedObject({ overlap_hours }), isOptional: true },
    responses: [ok(`The ${resource} with its new secret.`, answer, ['etag'])],
    errors: ['record_not_found', 'validation_failed'],
  }
}

/** The operation that changes a record, without its id and summary. */
function changeOperation(resource: string): Omit<Operation, 'id' | 'summary'> {
  const shown = 'The record; to whoever may not read it, its id and version alone.'
  return {
    tag: resource,
    description: hintOf(resource, 'change'),
    parameters: [`${resource}_expand`, ...dryRunOf(resource)],
    body: { schema: schemaRef(`${resource}_input`) },
    responses: [ok(shown, recordOf(resource), ['etag'])],
    errors: ['record_not_found', ...saving],
    ifMatch: true,
  }
}

const moveTo = queryParameter('move_to', 'The record to which what is in this one is moved first.', {
  type: 'integer',
  minimum: 0,
})

function dryRunOf(resource: string): readonly string[] {
  return takesDryRun(resource) ? dryRunParameter : []
}

function recordOf(resource: string) {
  return envelope(schemaRef(`${resource}_read`), schemaRef('write_meta'))
}

/** A resource's name in plain words. */
function wordsOf(resource: string): string {
  return resource.replaceAll('_', ' ')
}

function withArticle(resource: string): string {
  return `${/^[aeio]/.test(resource) ? 'an' : 'a'} ${wordsOf(resource)}`
}

/**
 * Descriptions of facts that programs can't learn from parameters and fields: for all resources, and for one.
 */
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

function hintOf(resource: string, operation: keyof typeof hints): string {
  const own = ownHints[resource]?.[operation]
  return own ? `${hints[operation]} ${own}` : hints[operation]
}
