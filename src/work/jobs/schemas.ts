/** The schemas of jobs (D84). */
import type { Schema } from '../../fields/field.ts'
import { anyObject, arrayOf, openObject, orNull, text } from '../../fields/kinds/schemas.ts'
import { phases, states } from './job.ts'

function job(): Schema {
  const whole = { type: 'integer', minimum: 0 }
  const counts = ['done', 'created', 'updated', 'unchanged', 'skipped', 'refused', 'reverted', 'related']
  const properties = {
    ...{ id: whole, kind: { enum: ['import', 'bulk'] }, resource: text, name: orNull(text) },
    ...{ state: { enum: [...states] }, phase: { enum: [...phases, null] } },
    ...Object.fromEntries(counts.map(name => [name, whole])),
    not_taken: {
      ...{ type: 'object', additionalProperties: whole },
      description: 'Column of a file → how many of its values linked contacts and companies did not get.',
    },
    replaced: {
      ...{ type: 'object', additionalProperties: whole },
      description: 'Column of a file → how many entries records lost from the lists that it replaced.',
    },
    users_out_of_use: {
      ...{ type: 'object', additionalProperties: whole },
      description: 'User who is out of use → how many rows that were imported name them.',
    },
    total: orNull(whole),
    rate: { ...orNull(whole), description: 'Rows or records a second, of the time in which it worked.' },
    problems: arrayOf(anyObject),
    result: { ...anyObject, description: 'The counts of each phase that came to its end.' },
    error: orNull(text),
    created_by: whole,
    ...Object.fromEntries(
      ['created_at', 'begun_at', 'ended_at'].map(name => [name, { ...orNull(text), format: 'date-time' }]),
    ),
  }
  const ofImports = {
    format: { enum: ['csv', 'jsonl', 'xlsx'] },
    source: {
      ...anyObject,
      description: 'Format, encoding, delimiter, sheet and header line: as sent, else as detected.',
    },
    columns: arrayOf(column()),
    mapping: arrayOf(anyObject),
    defaults: { ...anyObject, description: 'Values of the rows that say nothing of a target.' },
    ...{ values: anyObject, formats: anyObject, duplicates: orNull(anyObject) },
    targets: arrayOf(anyObject),
    values_to_map: arrayOf(anyObject),
  }
  return openObject({ ...properties, ...ofImports }, Object.keys(properties))
}

/** A column of a file, with its state in the plan (D80). */
function column(): Schema {
  return openObject({
    ...{ name: text, samples: arrayOf({}) },
    state: {
      enum: ['mapped', 'left_out', 'open'],
      description: 'open: the import waits for an answer to what it becomes.',
    },
    reason: { ...orNull(text), description: 'Why it is open or left out; null: somebody said so.' },
    guess: {
      ...orNull(text),
      description: 'What an open column becomes with confirm; null: it is left out.',
    },
  })
}

export const jobSchema = job()
