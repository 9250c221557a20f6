/** POST /{resource}/batch (D78): the route and its schemas. */
import type { Database } from '../../db/open.ts'
import type { Schema } from '../../fields/field.ts'
import { arrayOf, schemaRef } from '../../fields/kinds/schemas.ts'
import { dryRunParameter, envelope, ok } from '../openapi/operation.ts'
import { type AccountRoute, base, type Readable, route } from '../route.ts'
import { batchHandler } from './batch.ts'
import { operationsMax } from './batch-body.ts'

export function batchRoute(db: Database, resource: Readable, retentionDays: number): AccountRoute {
  const handler = batchHandler(db, resource, retentionDays)
  return route('POST', `${base}/${resource}/batch`, `${resource}:write`, handler, {
    ...{ id: `${resource}_batch`, summary: `Carries out up to ${operationsMax} writes.`, tag: resource },
    description:
      'Each is judged as its own request would be, and sees the ones before. The answer has a status for each.',
    parameters: dryRunParameter,
    body: { schema: batchBody(resource) },
    responses: [ok('What became of each.', envelope(arrayOf(schemaRef('batch_item')), batchMeta, true))],
    errors: [
      ...(['validation_failed', 'record_not_found', 'duplicate', 'in_use'] as const),
      'last_administrator',
    ],
  })
}

const whole = { type: 'integer', minimum: 0 }
const by = {
  type: 'object',
  properties: { field: { type: 'string' }, value: { type: ['string', 'number'] } },
  required: ['field', 'value'],
  additionalProperties: false,
  description: 'A unique field and the value that the record has in it.',
}

const batchMeta = {
  type: 'object',
  properties: { succeeded: whole, failed: whole, dryRun: { const: true } },
  required: ['succeeded', 'failed'],
}

/** The schema of an operation with this op and these members. */
function operation(op: string, members: { readonly [name: string]: Schema }, required: string[]): Schema {
  const properties = { op: { const: op }, ...members }
  return { type: 'object', properties, required: ['op', ...required], additionalProperties: false }
}

function operations(resource: string): Schema[] {
  const [given, input] = [schemaRef(`${resource}_new`), schemaRef(`${resource}_input`)]
  const ifMatch = { if_match: { ...whole, description: 'The version that the record must have.' } }
  const id = { id: whole, ...ifMatch }
  return [
    operation('create', { data: given }, ['data']),
    operation('update', { ...id, data: input }, ['id', 'data']),
    operation('update', { by, ...ifMatch, data: input }, ['by', 'data']),
    operation('upsert', { by, ...ifMatch, data: input }, ['by', 'data']),
    operation('delete', id, ['id']),
    operation('delete', { by, ...ifMatch }, ['by']),
    operation('restore', id, ['id']),
  ]
}

function batchBody(resource: string): Schema {
  const properties = {
    operations: {
      type: 'array',
      items: { anyOf: operations(resource) },
      minItems: 1,
      maxItems: operationsMax,
    },
    atomic: { type: ['boolean', 'null'], description: 'All or none; each by itself if not said.' },
  }
  return { type: 'object', properties, required: ['operations'], additionalProperties: false }
}
