/**
 * The schemas of what is the same in every account: the envelope's meta, problems, descriptors of fields, and
 * what sign-in answers. The fields of records are described by their kinds. Data only.
 */
import { described } from '../administration/field.ts'
import type { Schema } from '../fields/field.ts'
import { anyObject, closed, opened, orNull, several } from '../fields/kinds/schemas.ts'
import { customTypes, kinds, optionsMax } from '../fields/kinds.ts'
import { operators } from '../fields/operators.ts'
import { deliveryStates } from '../webhooks/webhook.ts'
import { named, refined } from './about.ts'
import { accountShapes } from './account-shapes.ts'
import { jobShapes } from './job-shapes.ts'
import { reportShapes } from './report-shapes.ts'

const [text, whole, number, flag] = [
  { type: 'string' },
  { type: 'integer' },
  { type: 'number' },
  { type: 'boolean' },
]
const moment = { type: 'string', format: 'date-time' }
const id = { type: 'integer', minimum: 1 }
const name = { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' }
const place = { type: ['integer', 'null'], minimum: 1 }
const money = opened({ currency: whole, currency_code: orNull(text), value: number })

/** Who did what (D69, D70). */
const event = {
  ...{ seq: whole, type: text, also: { type: 'array', items: text }, at: moment },
  ...{ resource: text, id: whole, version: whole },
  actor: opened(
    {
      ...{ id: orNull(whole), name: orNull(text), token: named('named_or_gone') },
      ...{ job: opened({ id: whole }), request_id: orNull(text) },
    },
    ['id', 'name', 'request_id'],
  ),
  changes: {
    type: 'array',
    items: opened({ field: text, label: text, from: {}, to: {}, from_name: {}, to_name: {} }, [
      ...['field', 'label', 'from', 'to'],
    ]),
  },
}

/** A limit of a field, as an account sets it; null brings the interface's back. */
const limit = orNull(number)
const config = {
  ...Object.fromEntries(
    ['min_length', 'max_length', 'max_limit', 'max_digits', 'max_decimals'].map(one => [one, whole]),
  ),
  min: number,
  max: number,
}

const fieldMembers: { readonly [member: string]: Schema } = {
  field_name: name,
  is_required: flag,
  is_active: flag,
  is_indexed: flag,
  is_unique: flag,
  config: { type: 'object', additionalProperties: limit },
  default_value: { description: 'A value that the field takes, or null.' },
  section: name,
  position: place,
  source: text,
  type: text,
  internal_name: text,
}
/** What a descriptor says beyond what may be set: it may be sent back. */
const ignored = Object.fromEntries(described.map(member => [member, { readOnly: true }]))
const newOption = { anyOf: [name, closed({ name, id: { readOnly: true } }, ['name'])] }
const optionMembers = { name, position: place, is_active: flag, is_default: flag, id: { readOnly: true } }

/** Schemas by their names in the document. */
export const shapes: { readonly [name: string]: Schema } = {
  problem: opened(
    {
      type: { type: 'string', format: 'uri-reference' },
      title: text,
      status: whole,
      detail: text,
      code: { type: 'integer', description: 'The number of the error; /docs/errors lists them.' },
      errors: { type: 'array', items: named('problem_item') },
      requestId: text,
      data: {
        ...{ type: 'array', items: named('batch_item') },
        description: 'Of an atomic batch: what would have become of each operation.',
      },
      meta: anyObject,
    },
    ['type', 'title', 'status', 'detail', 'code', 'errors', 'requestId'],
  ),
  problem_item: {
    ...opened(
      {
        field: orNull(text),
        path: { type: 'string', description: 'A JSON pointer into the body; empty for the query.' },
        parameter: text,
        code: text,
        message: text,
        hint: text,
        rule: { type: 'integer', description: "The number of the interface's rule." },
        candidates: {
          ...{ type: 'array', items: opened({ id: whole, name: orNull(text) }) },
          description: 'What could be meant: give the id of one.',
        },
      },
      ['field', 'path', 'code', 'message'],
    ),
    additionalProperties: true,
  },
  warning: opened({ field: text, code: text, message: text, path: text }, ['field', 'code', 'message']),
  write_meta: opened(
    {
      warnings: { type: 'array', items: named('warning') },
      created: { type: 'array', items: opened({ resource: text, id: whole }) },
      dryRun: { const: true, description: 'Nothing was saved.' },
    },
    [],
  ),
  batch_item: opened(
    {
      status: { type: 'integer', description: 'What its own request would have been answered.' },
      data: anyObject,
      meta: named('write_meta'),
      ...{ type: text, title: text, detail: text, code: { type: 'integer' } },
      errors: { type: 'array', items: named('problem_item') },
    },
    ['status'],
  ),
  page_meta: opened({
    page: orNull(whole),
    pageSize: whole,
    total: orNull(whole),
    totalIsEstimate: flag,
    totalPages: orNull(whole),
    hasMore: flag,
    nextCursor: orNull(text),
  }),
  deletion: opened({ id: whole, deleted: { const: true } }),
  named: opened({ id: whole, name: text }),
  field: fieldDescriptor(),
  field_list: opened({
    source: opened({ is_enabled: flag, name: text, id: whole, config: anyObject }, [
      'is_enabled',
      'name',
      'id',
    ]),
    fields: { type: 'array', items: { type: 'array', items: named('field') } },
  }),
  field_input: closed({ ...ignored, ...fieldMembers }, []),
  field_new: closed(
    {
      ...ignored,
      ...fieldMembers,
      type: { enum: customTypes },
      internal_name: { type: ['string', 'null'], pattern: '^cf_[a-z0-9][a-z0-9_]{0,56}$' },
      options: { type: ['array', 'null'], items: newOption, maxItems: optionsMax },
    },
    ['source', 'field_name', 'type'],
  ),
  option: opened({ id: whole, name: text, position: whole, is_active: flag, is_default: flag }),
  option_input: closed(optionMembers, []),
  option_new: refined('option_input', { name }),
  choice: opened(
    {
      ...{ id: whole, name: text, position: whole, is_active: flag, is_default: flag },
      ...{ pipeline: whole, kind: { enum: ['open', 'won', 'lost'] }, probability: number },
      ...{ code: text, symbol: text, decimals: whole },
    },
    ['id', 'name', 'position', 'is_active', 'is_default'],
  ),
  choices_meta: opened({ name: text, source: text, field_id: orNull(whole) }),
  form: { type: 'array', items: opened({ section: text, fields: several(text) }) },
  form_input: {
    type: 'array',
    items: closed({ section: name, fields: { type: 'array', items: text, minItems: 1 } }, [
      'section',
      'fields',
    ]),
  },
  // A measure stands under its own text, such as sum:deal_value.
  aggregate_group: {
    ...opened(
      {
        group: { type: ['integer', 'string', 'null'] },
        name: orNull(text),
        groups: {
          type: 'array',
          items: opened({
            group_by: text,
            group: { type: ['integer', 'string', 'null'] },
            name: orNull(text),
          }),
        },
        count: whole,
        deal_value: { type: 'array', items: money },
        weighted_value: { type: 'array', items: money },
        deal_value_in_base_currency: money,
        weighted_value_in_base_currency: money,
        without_rate: whole,
      },
      [],
    ),
    additionalProperties: true,
  },
  ...reportShapes,
  ...jobShapes,
  named_or_gone: opened({ id: whole, name: orNull(text) }),
  delivery: opened({
    id: { type: 'integer', description: 'The seq of the event.' },
    webhook_id: { type: 'string', description: 'The header webhook-id, the same however often it is sent.' },
    ...{ type: text, resource: text, record: whole, state: { enum: [...deliveryStates] } },
    ...{ created_at: moment, next_attempt_at: orNull(moment), attempts: whole, status: orNull(whole) },
    ...{ error: orNull(text), duration_ms: orNull(whole) },
    answer: { type: ['string', 'null'], description: 'The first kilobyte of the last answer.' },
    log: {
      type: 'array',
      items: opened({
        ...{ at: moment, status: orNull(whole), error: orNull(text), duration_ms: whole },
      }),
    },
  }),
  event: opened(event),
  feed_event: opened({ ...event, record: orNull(anyObject) }, Object.keys(event)),
  search_hit: opened({ resource: text, id: whole, name: orNull(text), detail: orNull(text) }),
  ...accountShapes,
  session: opened({
    id: whole,
    created_at: moment,
    last_used_at: moment,
    address: orNull(text),
    user_agent: orNull(text),
    is_current: flag,
  }),
  link: opened({ link: orNull(text), url: orNull(text), expires_at: moment }),
  sign_in: {
    anyOf: [
      closed({ email: name, password: { type: 'string', minLength: 1 }, account: orNull(whole) }, [
        'email',
        'password',
      ]),
      closed({ link: { type: 'string', minLength: 1 }, password: orNull(text) }, ['link']),
    ],
  },
}

/** A field as the field list shows it (D34). */
function fieldDescriptor(): Schema {
  const taken = { is_sortable: flag, operators: { type: 'array', items: { enum: operators } } }
  const sure = {
    internal_name: text,
    field_name: text,
    id,
    source_id: id,
    is_active: flag,
    type: { enum: Object.keys(kinds) },
    config: opened(config, []),
    is_required: flag,
    is_read_only: flag,
    is_custom: flag,
    is_unique: flag,
    is_filterable: flag,
    ...taken,
    is_expandable: flag,
    default_value: {},
    section: text,
    rules: { type: 'array', items: whole },
    version: whole,
  }
  const subField = { name: text, input_type: text, display_name: text, id, type: text }
  const more = {
    options: { type: 'array', items: named('named') },
    sub_fields: {
      type: 'array',
      items: opened({ ...subField, config: opened({ ...config, default: number }, []) }),
    },
    related_field: opened({ id, source: text }),
    members: { type: 'array', items: opened({ name: text, ...taken }) },
    is_indexed: flag,
    index: opened({ state: { enum: ['building', 'ready', 'failed'] }, progress: orNull(number) }),
    deleted_at: moment,
  }
  return opened({ ...sure, ...more }, Object.keys(sure))
}
