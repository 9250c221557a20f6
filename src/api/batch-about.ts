/** What the routes of batches are, for the OpenAPI document (D90). */
import type { Schema } from '../fields/field.ts'
import { type About, enveloped, named, ok, tried } from '../openapi/about.ts'
import { operationsMax } from './batch-body.ts'

const whole = { type: 'integer', minimum: 0 }
const by = {
  type: 'object',
  properties: { field: { type: 'string' }, value: { type: ['string', 'number'] } },
  required: ['field', 'value'],
  additionalProperties: false,
  description: 'A unique field and the value that the record has in it.',
}

/** An operation with this op, and the members that it takes besides. */
function operation(op: string, members: { readonly [name: string]: Schema }, required: string[]): Schema {
  const properties = { op: { const: op }, ...members }
  return { type: 'object', properties, required: ['op', ...required], additionalProperties: false }
}

function operations(resource: string): Schema[] {
  const [given, input] = [named(`${resource}_new`), named(`${resource}_input`)]
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

/** POST /{resource}/batch */
export function batchAbout(resource: string): About {
  const properties = {
    operations: {
      type: 'array',
      items: { anyOf: operations(resource) },
      minItems: 1,
      maxItems: operationsMax,
    },
    atomic: { type: ['boolean', 'null'], description: 'All or none; each by itself if not said.' },
  }
  const meta = {
    type: 'object',
    properties: { succeeded: whole, failed: whole, dryRun: { const: true } },
    required: ['succeeded', 'failed'],
  }
  return {
    ...{ id: `${resource}_batch`, summary: `Carries out up to ${operationsMax} writes.`, tag: resource },
    description:
      'Each is judged as its own request would be, and sees the ones before. The answer has a status for each.',
    parameters: tried,
    body: {
      schema: { type: 'object', properties, required: ['operations'], additionalProperties: false },
    },
    answers: [
      ok('What became of each.', enveloped({ type: 'array', items: named('batch_item') }, meta, true)),
    ],
    refuses: [
      ...(['validation_failed', 'record_not_found', 'duplicate', 'version_conflict', 'in_use'] as const),
      'last_administrator',
    ],
  }
}
