/**
 * The shared schemas of responses, by their names in the document: the envelope's meta, problems, and
 * descriptors of fields, options and forms. Schemas of one part of the service are in that part
 * (src/http/openapi/schemas.ts); field kinds describe the fields of records. Data only.
 */
import { described } from '../../configuration/field.ts'
import type { Schema } from '../../fields/field.ts'
import {
  anyObject,
  arrayOf,
  closedObject,
  flag,
  moment,
  number,
  openObject,
  orNull,
  schemaRef,
  several,
  text,
  whole,
} from '../../fields/kinds/schemas.ts'
import { customTypes, kinds, optionsMax } from '../../fields/kinds.ts'
import { operators } from '../../fields/term.ts'
import { refined } from './operation.ts'

const id = { type: 'integer', minimum: 1 }
const name = { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' }
const place = { type: ['integer', 'null'], minimum: 1 }

/** A limit of a field, as an account sets it; null restores the interface's. */
const limit = orNull(number)
const config = {
  ...Object.fromEntries(
    ['min_length', 'max_length', 'max_limit', 'max_digits', 'max_decimals'].map(one => [one, whole]),
  ),
  min: number,
  max: number,
  case_sensitive: flag,
}

const fieldMembers: { readonly [member: string]: Schema } = {
  field_name: name,
  is_required: flag,
  is_active: flag,
  is_indexed: flag,
  is_unique: flag,
  config: { type: 'object', properties: { case_sensitive: orNull(flag) }, additionalProperties: limit },
  default_value: { description: 'A value that the field takes, or null.' },
  section: name,
  position: place,
  source: text,
  type: text,
  internal_name: text,
}
/** The read-only members of a descriptor: accepted and ignored in input. */
const ignored = Object.fromEntries(described.map(member => [member, { readOnly: true }]))
const newOption = { anyOf: [name, closedObject({ name, id: { readOnly: true } }, ['name'])] }
const optionMembers = { name, position: place, is_active: flag, is_default: flag, id: { readOnly: true } }

/** Schemas by their names in the document. */
export const commonSchemas: { readonly [name: string]: Schema } = {
  problem: openObject(
    {
      type: { type: 'string', format: 'uri-reference' },
      title: text,
      status: whole,
      detail: text,
      code: { type: 'integer', description: 'The number of the error; /docs/errors lists them.' },
      errors: arrayOf(schemaRef('problem_item')),
      requestId: text,
      data: {
        ...arrayOf(schemaRef('batch_item')),
        description: 'Of an atomic batch: what would have become of each operation.',
      },
      meta: anyObject,
    },
    ['type', 'title', 'status', 'detail', 'code', 'errors', 'requestId'],
  ),
  problem_item: {
    ...openObject(
      {
        field: orNull(text),
        path: { type: 'string', description: 'A JSON pointer into the body; empty for the query.' },
        parameter: text,
        code: text,
        message: text,
        hint: text,
        rule: { type: 'integer', description: "The number of the interface's rule." },
        candidates: {
          ...arrayOf(openObject({ id: whole, name: orNull(text) })),
          description: 'Records with that name; send the id of one.',
        },
      },
      ['field', 'path', 'code', 'message'],
    ),
    additionalProperties: true,
  },
  warning: openObject(
    {
      ...{ field: text, code: text, message: text },
      path: { type: 'string', description: 'A JSON pointer into the body; absent: about nothing in it.' },
    },
    ['field', 'code', 'message'],
  ),
  write_meta: openObject(
    {
      warnings: arrayOf(schemaRef('warning')),
      created: arrayOf(openObject({ resource: text, id: whole })),
      dryRun: { const: true, description: 'Nothing was saved.' },
    },
    [],
  ),
  batch_item: openObject(
    {
      status: { type: 'integer', description: 'What its own request would have been answered.' },
      data: anyObject,
      meta: schemaRef('write_meta'),
      ...{ type: text, title: text, detail: text, code: { type: 'integer' } },
      errors: arrayOf(schemaRef('problem_item')),
    },
    ['status'],
  ),
  page_meta: openObject({
    page: orNull(whole),
    pageSize: whole,
    total: orNull(whole),
    totalIsEstimate: flag,
    totalPages: orNull(whole),
    hasMore: flag,
    nextCursor: orNull(text),
  }),
  deletion: openObject({ id: whole, deleted: { const: true } }),
  named: openObject({ id: whole, name: text }),
  field: fieldDescriptor(),
  field_list: openObject({
    source: openObject({ is_enabled: flag, name: text, id: whole, config: anyObject }, [
      'is_enabled',
      'name',
      'id',
    ]),
    fields: arrayOf(arrayOf(schemaRef('field'))),
  }),
  field_input: closedObject({ ...ignored, ...fieldMembers }),
  field_new: closedObject(
    {
      ...ignored,
      ...fieldMembers,
      type: { enum: customTypes },
      internal_name: { type: ['string', 'null'], pattern: '^cf_[a-z0-9][a-z0-9_]{0,56}$' },
      options: { type: ['array', 'null'], items: newOption, maxItems: optionsMax },
    },
    ['source', 'field_name', 'type'],
  ),
  option: openObject({ id: whole, name: text, position: whole, is_active: flag, is_default: flag }),
  option_input: closedObject(optionMembers),
  option_new: refined('option_input', { name }),
  choice: openObject(
    {
      ...{ id: whole, name: text, position: whole, is_active: flag, is_default: flag },
      ...{ pipeline: whole, kind: { enum: ['open', 'won', 'lost'] }, probability: number },
      ...{ code: text, symbol: text, decimals: whole },
    },
    ['id', 'name', 'position', 'is_active', 'is_default'],
  ),
  choices_meta: openObject({ name: text, source: text, field_id: orNull(whole), hasMore: flag }),
  form: arrayOf(openObject({ section: text, fields: several(text) })),
  form_input: arrayOf(
    closedObject({ section: name, fields: { type: 'array', items: text, minItems: 1 } }, [
      'section',
      'fields',
    ]),
  ),
}

/** A field as the field list shows it (D34). */
function fieldDescriptor(): Schema {
  const taken = { is_sortable: flag, operators: arrayOf({ enum: operators }) }
  const sure = {
    internal_name: text,
    field_name: text,
    id,
    source_id: id,
    is_active: flag,
    type: { enum: Object.keys(kinds) },
    config: openObject(config, []),
    is_required: flag,
    is_read_only: flag,
    is_custom: flag,
    is_unique: flag,
    is_filterable: flag,
    ...taken,
    is_expandable: flag,
    is_measurable: flag,
    default_value: {},
    section: text,
    rules: arrayOf(whole),
    version: whole,
  }
  const subField = { name: text, input_type: text, display_name: text, id, type: text }
  const more = {
    options: arrayOf(schemaRef('named')),
    sub_fields: arrayOf(openObject({ ...subField, config: openObject({ ...config, default: number }, []) })),
    related_field: openObject({ id, source: text }),
    members: arrayOf(openObject({ name: text, ...taken })),
    is_indexed: flag,
    index: openObject({ state: { enum: ['building', 'ready', 'failed'] }, progress: orNull(number) }),
    deleted_at: moment,
  }
  return openObject({ ...sure, ...more }, Object.keys(sure))
}
