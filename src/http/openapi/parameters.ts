/** The parameters of requests, by their names in the document: those of all, and those of a resource. */
import { type Catalog, type ResourceSchema, shownFields } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { arrayOf } from '../../fields/kinds/schemas.ts'
import { operators } from '../../fields/term.ts'
import { limitMax, waitMax } from '../../history/query.ts'
import { isGroupable } from '../../lists/aggregate-query.ts'
import { pageSizeMax } from '../../lists/parameters.ts'
import { listParameters } from '../../lists/query.ts'
import { searchable } from '../../lists/search/search.ts'
import { isExpandable } from '../../records/expand.ts'
import { agentOrigin } from '../../records/write/protocol.ts'
import { deliveriesMax, deliveryStates } from '../../resources/webhook.ts'
import { queryParameter } from './operation.ts'

const [whole, text] = [{ type: 'integer', minimum: 1 }, { type: 'string' }]

const filterHelp = `Conditions such as title:like(solar panels), separated by commas; all must hold. and(…), or(…) and not(…) nest. The operators: ${operators.join(', ')}. A value stands as it is, without quotes, and options and records by their ids or names. An example: status:eq(Won). in, nin and between take several. An example: deal_closed_on:between(2026-03-01,2026-03-31). isnull, notnull and exists take true or false. A member is named with a dot. An example: deal_value.currency:eq(EUR).`

/** The parameters of a list that are alike for all resources; those that name fields are per resource. */
const listSchemas: { readonly [name: string]: { readonly schema: Schema; readonly description: string } } = {
  page: { schema: whole, description: 'The page, counted from 1.' },
  pageSize: { schema: { ...whole, maximum: pageSizeMax }, description: 'Records in a page; default: 25.' },
  size: {
    schema: { ...whole, maximum: pageSizeMax },
    description: 'Another name of pageSize. Send one of the two.',
  },
  cursor: {
    schema: text,
    description: 'The meta.nextCursor of the page before, to read the next one. It takes the place of page.',
  },
  filter: { schema: arrayOf(text), description: filterHelp },
  sort: {
    schema: text,
    description: 'Fields with asc or desc, separated by commas. An example: created_at:desc,id:asc.',
  },
  count: {
    schema: { enum: ['exact', 'estimate', 'none'] },
    description: 'How the total is counted; default: exactly as long as that is quick, else an estimate.',
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

/** The body of a list by POST (D32). */
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

/** All parameters that routes refer to, for an account's catalog. */
export function parametersOf({ resources }: Catalog): { readonly [name: string]: Schema } {
  const lists = Object.entries(listSchemas).map(([name, more]) => [
    name,
    queryParameter(name, more.description, more.schema),
  ])
  return {
    ...Object.fromEntries(lists),
    ...ofRequests([...resources.keys()], searchable(resources)),
    ...inHeaders(),
    ...ofEvents([...resources.keys()]),
    ...ofDeliveries(),
    ...ofExports(),
    ...Object.assign({}, ...[...resources.values()].map(ofFields)),
  }
}

function ofRequests(
  resources: readonly string[],
  searched: readonly string[],
): { readonly [name: string]: Schema } {
  const path = (name: string, description: string) => ({
    ...{ name, in: 'path', required: true, description },
    schema: { type: 'integer', minimum: 0 },
  })
  return {
    id: path('id', 'The id of the record.'),
    option: path('option', 'The id of the option.'),
    delivery: path('delivery', 'The id of the delivery.'),
    name: { ...path('name', 'The name of the page.'), schema: text },
    field: { ...path('field', 'The name of a unique field.'), schema: text },
    value: { ...path('value', 'The value that the record has in the field.'), schema: text },
    file: { ...path('file', 'The secret of the calendar, with the ending .ics.'), schema: text },
    source: queryParameter('source', 'The resource whose fields are meant.', { enum: resources }, true),
    measures: queryParameter(
      'measures',
      'Up to ten of count, and sum, avg, min, max or median of a field, separated by commas. An example: count,sum:deal_value,median:age.',
      text,
    ),
    q: queryParameter(
      'q',
      'Words, all of which must occur, also as parts of other words. At least two characters, or one of Chinese, Japanese or Korean.',
      { ...text, minLength: 1, maxLength: 200 },
      true,
    ),
    searched: queryParameter(
      'resources',
      `Some of ${searched.join(', ')}, separated by commas; default: all.`,
      text,
    ),
    search_size: queryParameter('pageSize', 'How many are answered at most; default: 20.', {
      ...whole,
      maximum: 50,
    }),
    dry_run: queryParameter(
      'dry_run',
      'Judges everything and answers as the write would, but saves nothing. What is new then has null as its id.',
      { enum: ['1'] },
    ),
    any_source: queryParameter('source', 'The resource of the field, where several have one of that name.', {
      enum: resources,
    }),
  }
}

function inHeaders(): { readonly [name: string]: Schema } {
  return {
    idempotency_key: header(
      'Idempotency-Key',
      'A new text for each request, such as a UUID: sent again with it, the request is not carried out twice.',
      { type: 'string', pattern: '^[!-~]{1,255}$' },
    ),
    known_seq: header(
      'Dealwright-Seq',
      'The seq of the newest event that the client knows, such as that of an answer: nothing older is answered.',
      { type: 'integer', minimum: 0 },
    ),
    if_match: header(
      'If-Match',
      'The ETag of what was read, such as "3": nothing is changed if it has changed since.',
      text,
    ),
    if_none_match: header(
      'If-None-Match',
      'The ETag of what the client has, such as "3": it is not sent again.',
      text,
    ),
  }
}

/** The parameters of an export (D81). */
function ofExports(): { readonly [name: string]: Schema } {
  return {
    export_format: queryParameter('format', 'csv (default), jsonl, or xlsx (Excel workbook).', {
      enum: ['csv', 'jsonl', 'xlsx'],
    }),
    export_names: queryParameter('names', '1 gives names instead of ids.', { enum: ['0', '1'] }),
  }
}

/** The parameters of a webhook's delivery log (D72). */
function ofDeliveries(): { readonly [name: string]: Schema } {
  return {
    delivery_state: queryParameter(
      'state',
      'Only deliveries in this state: dead are those that were given up.',
      { enum: [...deliveryStates] },
    ),
    delivery_size: queryParameter('pageSize', 'How many deliveries are answered at most; default: 25.', {
      ...whole,
      maximum: deliveriesMax,
    }),
  }
}

function header(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'header', description, schema }
}

/** The parameters of the event feed (D71). */
function ofEvents(resources: readonly string[]): { readonly [name: string]: Schema } {
  const number = (minimum: number, maximum?: number): Schema => ({
    type: 'integer',
    minimum,
    ...(maximum ? { maximum } : {}),
  })
  const names = arrayOf({ enum: [...resources, 'field'] })
  return {
    event_after: queryParameter(
      'after',
      'The seq of the last event that you know: meta.next of the page before.',
      number(0),
    ),
    event_limit: queryParameter('limit', 'How many events at most; default: 100.', number(1, limitMax)),
    event_resource: {
      ...queryParameter('resource', 'Only events of these; default: all you may read.', names),
      explode: false,
    },
    event_type: queryParameter(
      'type',
      'Only events of these types, separated by commas, such as deal.won,contact.created.',
      text,
    ),
    event_wait: queryParameter(
      'wait',
      'How many seconds to wait where there is none yet.',
      number(0, waitMax),
    ),
    event_record: queryParameter('record', 'Adds each record as it is now; null where it is deleted.', {
      enum: ['1'],
    }),
    event_origin: queryParameter('origin', 'Only what agents wrote.', { enum: [agentOrigin] }),
  }
}

/** The parameters that name fields of a resource, separated by commas. */
function ofFields(schema: ResourceSchema): { readonly [name: string]: Schema } {
  const { name: resource } = schema.resource
  const shown = shownFields(schema)
  const namesOf = (wanted: typeof shown) => wanted.map(({ internal_name }) => internal_name)
  const [expandable, groupable] = [shown.filter(isExpandable), shown.filter(isGroupable)]
  const several = (name: string, names: string[], description: string) => ({
    ...queryParameter(name, description, arrayOf({ enum: names })),
    explode: false,
  })
  return {
    [`${resource}_fields`]: several(
      'fields',
      namesOf(shown),
      'The fields that are answered, beside the id; default: all.',
    ),
    [`${resource}_expand`]: several(
      'expand',
      namesOf(expandable),
      'The fields of ids whose names are added as _expanded.',
    ),
    [`${resource}_group_by`]: queryParameter(
      'group_by',
      `Up to three, separated by commas: ${namesOf(groupable).join(', ')}, or a date with a unit of time, such as created_at:month.`,
      text,
    ),
  }
}
