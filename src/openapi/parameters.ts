/** The parameters of requests, by their names in the document: those of all, and those of a resource. */

import { limitMax, waitMax } from '../events/query.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import type { Schema } from '../fields/field.ts'
import { isGroupable } from '../list/groups.ts'
import { listParameters, pageSizeMax } from '../list/query.ts'
import { isExpandable } from '../records/expand.ts'
import { deliveriesMax, deliveryStates } from '../webhooks/webhook.ts'
import { shownFields } from './records.ts'

const [whole, text] = [{ type: 'integer', minimum: 1 }, { type: 'string' }]

/** What each parameter of a list takes; those that name fields are said for each resource. */
const listSchemas: { readonly [name: string]: { readonly schema: Schema; readonly description: string } } = {
  page: { schema: whole, description: 'The page, counted from 1.' },
  pageSize: { schema: { ...whole, maximum: pageSizeMax }, description: 'Records per page; 25 if not said.' },
  size: { schema: { ...whole, maximum: pageSizeMax }, description: 'Another name of pageSize.' },
  cursor: { schema: text, description: 'The nextCursor of the page before; it takes the place of page.' },
  filter: {
    schema: { type: 'array', items: text },
    description: 'Conditions such as field:operator(value), separated by commas; all must hold.',
  },
  sort: { schema: text, description: 'Fields such as name:asc, separated by commas.' },
  count: {
    schema: { enum: ['exact', 'estimate', 'none'] },
    description: 'How the total is counted; if not said, exactly as long as that is quick.',
  },
  deleted: { schema: { enum: ['only'] }, description: 'Lists the deleted records instead.' },
  as_of: {
    schema: { type: 'string', format: 'date' },
    description: 'A past day: the records as they were at its end.',
  },
}

/** The names of a list's parameters in the document. */
export function listNames(resource: string): string[] {
  return listParameters.map(name => (name in listSchemas ? name : `${resource}_${name}`))
}

/** The body of a list that is asked for by POST (D32). */
export function listBody(): Schema {
  const listed = { type: ['string', 'array', 'null'], items: text }
  const schemaOf = (name: string): Schema => {
    const { schema = {} } = listSchemas[name] ?? {}
    if (schema.enum) return { enum: [...(schema.enum as string[]), null] }
    return schema.type === 'integer' ? { ...schema, type: ['integer', 'string', 'null'] } : listed
  }
  const properties = Object.fromEntries(listParameters.map(name => [name, schemaOf(name)]))
  return { type: 'object', properties, additionalProperties: false }
}

/** Every parameter that routes name, for an account's catalog. */
export function parametersOf({ resources }: Catalog): { readonly [name: string]: Schema } {
  const lists = Object.entries(listSchemas).map(([name, more]) => [name, query(name, more)])
  return {
    ...Object.fromEntries(lists),
    ...ofRequests([...resources.keys()]),
    ...Object.assign({}, ...[...resources.values()].map(ofFields)),
  }
}

function ofRequests(resources: readonly string[]): { readonly [name: string]: Schema } {
  const path = (name: string, description: string) => ({
    ...{ name, in: 'path', required: true, description },
    schema: { type: 'integer', minimum: 0 },
  })
  const header = (name: string, description: string, schema: Schema) => ({
    name,
    in: 'header',
    description,
    schema,
  })
  return {
    id: path('id', 'The id of the record.'),
    option: path('option', 'The id of the option.'),
    delivery: path('delivery', 'The id of the delivery.'),
    delivery_state: query('state', {
      schema: { enum: [...deliveryStates] },
      description: 'Only deliveries in this state.',
    }),
    delivery_size: query('pageSize', {
      schema: { ...whole, maximum: deliveriesMax },
      description: 'How many; 25 if not said.',
    }),
    name: { ...path('name', 'The name of the page.'), schema: text },
    field: { ...path('field', 'The name of a unique field.'), schema: text },
    value: { ...path('value', 'The value that the record has in the field.'), schema: text },
    source: {
      ...query('source', { schema: { enum: resources }, description: 'The resource.' }),
      required: true,
    },
    measures: query('measures', {
      schema: text,
      description: 'Up to ten, separated by commas, such as count,sum:deal_value,median:age.',
    }),
    q: {
      ...query('q', { schema: { ...text, minLength: 2, maxLength: 200 }, description: 'The words.' }),
      required: true,
    },
    searched: query('resources', {
      schema: text,
      description: 'The resources, separated by commas; all if not said.',
    }),
    search_size: query('pageSize', {
      schema: { ...whole, maximum: 50 },
      description: 'How many; 20 if not said.',
    }),
    ...ofEvents(resources),
    any_source: query('source', { schema: { enum: resources }, description: 'The resource.' }),
    idempotency_key: header(
      'Idempotency-Key',
      'Any text that is new: the same request, sent again with it, is not carried out twice.',
      { type: 'string', pattern: '^[!-~]{1,255}$' },
    ),
    if_match: header(
      'If-Match',
      'The ETag of what was read: nothing is changed if it has changed since.',
      text,
    ),
  }
}

/** The parameters of the feed (D71). */
function ofEvents(resources: readonly string[]): { readonly [name: string]: Schema } {
  const number = (minimum: number, maximum?: number): Schema => ({
    type: 'integer',
    minimum,
    ...(maximum ? { maximum } : {}),
  })
  const names = { schema: { type: 'array', items: { enum: [...resources, 'field'] } } }
  return {
    event_after: query('after', {
      schema: number(0),
      description: 'The seq of the last event that you know: meta.next of the page before.',
    }),
    event_limit: query('limit', {
      schema: number(1, limitMax),
      description: 'How many events at most; 100 if not said.',
    }),
    event_resource: {
      ...query('resource', { ...names, description: 'Only events of these; all you may read if not said.' }),
      explode: false,
    },
    event_type: query('type', {
      schema: text,
      description: 'Only events of these types, separated by commas, such as deal.won,contact.created.',
    }),
    event_wait: query('wait', {
      schema: number(0, waitMax),
      description: 'How many seconds to wait where there is none yet.',
    }),
    event_record: query('record', {
      schema: { enum: ['1'] },
      description: 'Adds each record as it is now; null where it is deleted.',
    }),
  }
}

/** The parameters that name fields of a resource, as they are separated by commas. */
function ofFields(fields: ResourceFields): { readonly [name: string]: Schema } {
  const { name: resource } = fields.resource
  const shown = shownFields(fields)
  const namesOf = (wanted: typeof shown) => wanted.map(({ internal_name }) => internal_name)
  const [expandable, groupable] = [shown.filter(isExpandable), shown.filter(isGroupable)]
  const several = (name: string, names: string[], description: string) => ({
    ...query(name, { schema: { type: 'array', items: { enum: names } }, description }),
    explode: false,
  })
  return {
    [`${resource}_fields`]: several('fields', namesOf(shown), 'The fields that are shown, beside the id.'),
    [`${resource}_expand`]: several(
      'expand',
      namesOf(expandable),
      'The fields whose names are shown in _expanded.',
    ),
    [`${resource}_group_by`]: query('group_by', {
      schema: text,
      description: `Up to three, separated by commas: ${namesOf(groupable).join(', ')}, or a date with a unit of time, such as created_at:month.`,
    }),
  }
}

function query(name: string, more: { readonly schema: Schema; readonly description: string }): Schema {
  return { name, in: 'query', ...more }
}
