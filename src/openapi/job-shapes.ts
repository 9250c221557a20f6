/** The schemas of jobs (D84). */
import type { Schema } from '../fields/field.ts'
import { phases, states } from '../jobs/job.ts'

/** What a job is answered as, for the document. */
function job(): Schema {
  const whole = { type: 'integer', minimum: 0 }
  const orNull = (schema: Schema) => ({ ...schema, type: [schema.type, 'null'] })
  const text = { type: 'string' }
  const counts = ['done', 'created', 'updated', 'unchanged', 'skipped', 'refused', 'reverted', 'related']
  const properties = {
    ...{ id: whole, kind: { enum: ['import', 'bulk'] }, resource: text, name: orNull(text) },
    ...{ state: { enum: [...states] }, phase: { enum: [...phases, null] } },
    ...Object.fromEntries(counts.map(name => [name, whole])),
    total: orNull(whole),
    rate: { ...orNull(whole), description: 'Rows or records a second, of the time in which it worked.' },
    problems: { type: 'array', items: { type: 'object' } },
    result: { type: 'object', description: 'The counts of each phase that came to its end.' },
    error: orNull(text),
    created_by: whole,
    ...Object.fromEntries(
      ['created_at', 'begun_at', 'ended_at'].map(name => [name, { ...orNull(text), format: 'date-time' }]),
    ),
  }
  const ofImports = {
    format: { enum: ['csv', 'jsonl', 'xlsx'] },
    columns: { type: 'array', items: { type: 'object' } },
    mapping: { type: 'array', items: { type: 'object' } },
    defaults: { type: 'object', description: 'Values of the rows that say nothing of a target.' },
    ...{ values: { type: 'object' }, formats: { type: 'object' }, duplicates: { type: ['object', 'null'] } },
    targets: { type: 'array', items: { type: 'object' } },
    values_to_map: { type: 'array', items: { type: 'object' } },
  }
  return { type: 'object', properties: { ...properties, ...ofImports }, required: Object.keys(properties) }
}

const page = {
  pageSize: { type: 'integer' },
  hasMore: { type: 'boolean' },
  nextCursor: { type: ['string', 'null'] },
}

export const jobShapes: { readonly [name: string]: Schema } = {
  job: job(),
  job_page: { type: 'object', properties: page, required: Object.keys(page) },
}
