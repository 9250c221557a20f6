/** The tools that find and read records: search, list, get. */
import { meantField } from '../fields/unknown-field.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { resources as all } from '../resources/resources.ts'
import { fits, fitting } from './answer.ts'
import type { Api } from './api.ts'
import { filtersFor, itemsOf, recordNamed, textsOf } from './find.ts'
import type { Input } from './input.ts'
import { singleBlanks } from './phrases.ts'
import { ToolRefusal } from './refusal.ts'
import {
  expandable,
  fieldParameters,
  fieldsNamed,
  readable,
  rowOf,
  seenFields,
  shownColumns,
  valueIn,
} from './rows.ts'
import { cut } from './shown.ts'
import { linkOf, schemaOf, type Tool, type ToolResult } from './tool.ts'

export const resource = { type: 'string', enum: readable } as const
export const where: Input = {
  ...{ type: 'array', items: { type: 'string', maxLength: 500 }, maxItems: 20 },
  description:
    'Conditions that must all hold: field, words, value. ["stage is Proposal", "owner is me", "deal_value over 10000 EUR", "updated_at before 30 days ago", "expected_close_date is this quarter", "company.name contains acme", "source is empty"]. Words: is, is not, is one of a or b, contains, over, under, at least, before, after, between a and b, older than, is empty. Names for ids; "a or b" is either.',
}
const fieldNames = { type: 'array', items: { type: 'string', maxLength: 80 }, maxItems: 30 } as const

export const search: Tool = {
  name: 'search',
  title: 'Search by words',
  description:
    'Finds deals, contacts, companies and products by name, e-mail, phone or code: id, name and detail.',
  input: {
    properties: {
      text: { type: 'string', maxLength: 200 },
      resources: {
        type: 'array',
        items: { type: 'string', enum: all.flatMap(({ searched, name }) => (searched ? name : [])) },
      },
    },
    required: ['text'],
  },
  run: async ({ text, resources }, api) => {
    const only = textsOf(resources).join()
    const query = { q: String(text), pageSize: '20', ...(only ? { resources: only } : {}) }
    const { data, meta } = await api.call({ operation: 'search', query })
    const rows = itemsOf({ data: data! }).map(({ resource, id, name, detail }) => [
      resource!,
      id!,
      cut(name!, 160),
      detail!,
    ])
    const isMore = isObject(meta) && meta.hasMore === true
    return {
      summary: {
        found: rows.length,
        ...(isMore ? { left_out: 'There are more: add words, or list with conditions.' } : {}),
      },
      stored: { columns: ['resource', 'id', 'name', 'detail'], rows },
    }
  },
}

const usualRows = 15

export const list: Tool = {
  name: 'list',
  title: 'List records',
  description:
    'Lists records that meet conditions, as rows with names. Without fields: the most useful columns. sort: "deal_value desc" or "expected_close_date". next: from the answer before, with the same arguments.',
  input: {
    properties: {
      ...{ resource, where, sort: { type: 'string', maxLength: 200 }, fields: fieldNames },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: '15 if left out' },
      next: { type: 'string' },
    },
    required: ['resource'],
  },
  run: async (args, api) => {
    const name = String(args.resource)
    const schema = schemaOf(api, name)
    const columns = shownColumns(args.fields === undefined ? null : textsOf(args.fields), schema)
    const { filter, notes } = await filtersFor(api, name, textsOf(args.where))
    const body = {
      ...{ filter: [...filter], pageSize: args.limit ?? usualRows },
      ...fieldParameters(columns, schema, api.caller.rights),
      ...(args.sort === undefined ? {} : { sort: sortOf(String(args.sort), schema) }),
      ...(args.next === undefined ? {} : { cursor: args.next }),
    }
    const page = await pageThatFits(api, name, body, record => rowOf(record, columns, schema))
    return pageAnswer(
      api,
      name,
      page,
      notes,
      columns.map(field => field.internal_name),
    )
  },
}

type Page = { readonly rows: readonly Json[][]; readonly meta: JsonObject }

/** A page of rows; a shorter one if they would be too long for an answer, so that its cursor is right. */
async function pageThatFits(
  api: Api,
  resource: string,
  body: JsonObject,
  row: (record: JsonObject) => Json[],
): Promise<Page> {
  const answer = await api.call({ operation: `${resource}_search`, body })
  const rows = itemsOf(answer).map(row)
  const few = fitting(rows)
  if (few.length === rows.length) return { rows, meta: answer.meta as JsonObject }
  const shorter = await api.call({ operation: `${resource}_search`, body: { ...body, pageSize: few.length } })
  return { rows: itemsOf(shorter).map(row), meta: shorter.meta as JsonObject }
}

function pageAnswer(
  api: Api,
  resource: string,
  { rows, meta }: Page,
  notes: readonly string[],
  columns: string[],
): ToolResult {
  const { total = null, totalIsEstimate, nextCursor = null } = meta
  const link = linkOf(api, resource)
  return {
    summary: {
      ...{ found: totalIsEstimate ? `about ${String(total)}` : total, shown: rows.length },
      ...(nextCursor ? { next: nextCursor, left_out: 'the rest: the same call with next' } : {}),
      ...(notes.length ? { notes: [...notes] } : {}),
      ...(rows.length && link ? { link } : {}),
    },
    stored: { columns: ['id', 'name', ...columns], rows: [...rows] },
  }
}

/** "deal_value desc, title" → deal_value:desc,title:asc */
function sortOf(text: string, schema: ReturnType<typeof schemaOf>): string {
  const keys = text.split(',').map(part => {
    const [, minus, name = '', order = 'asc'] =
      /^(-?)(.*?)(?:(?: ?: ?| )(asc|desc|ascending|descending))?$/i.exec(singleBlanks(part)) ?? []
    const field = name === 'name' ? schema.resource.shownAs[0] : meantField(name, schema)
    if (!field)
      throw new ToolRefusal(
        'The order could not be read.',
        [{ at: 'sort', message: `No field: ${name.slice(0, 80)}` }],
        'for example "sort": "created_at desc"',
      )
    return `${field}:${minus || /^desc/i.test(order) ? 'desc' : 'asc'}`
  })
  return keys.join()
}

/** Texts of one record may be longer. */
const [textMax, shortMax] = [1500, 200]
/** Fields of the store that agents don't need. */
const technical = new Set(['id', 'version', 'deleted_at', 'deleted_by'])

export const get: Tool = {
  name: 'get',
  title: 'Read one record',
  description:
    'Reads a record by id or name: its fields with a value, names for ids, and a link to its page. Its activities: list {"resource":"activity","where":["deal is 42"]}.',
  input: {
    properties: {
      resource,
      record: { type: ['integer', 'string'], maxLength: 255, description: 'id or name' },
      fields: fieldNames,
    },
    required: ['resource', 'record'],
  },
  run: async ({ resource: name, record: named, fields: only }, api) => {
    const resource = String(name)
    const id = await recordNamed(api, resource, named!)
    const schema = schemaOf(api, resource)
    const shown = only === undefined ? seenFields(schema) : fieldsNamed(textsOf(only), schema)
    const record = await readRecord(api, resource, id)
    const seen = shown.filter(field => !technical.has(field.internal_name))
    const members = (max: number) =>
      Object.fromEntries(
        seen.flatMap((field): [string, Json][] => {
          const value = cut(valueIn(record, field), max)
          const lines = linesOf(record[field.internal_name] ?? null)
          const entry: [string, Json][] = value === null ? [] : [[field.internal_name, value]]
          return lines ? [...entry, ['products', lines]] : entry
        }),
      )
    const whole = members(textMax)
    const all = Object.entries(fits(whole) ? whole : members(shortMax))
    const fit = fitting(all)
    const left = all.slice(fit.length).map(([name]) => name)
    const link = linkOf(api, resource, id)
    return {
      summary: {
        ...{ id, ...(link ? { link } : {}) },
        ...(left.length ? { left_out: `${left.length} fields; ask for those that you need by fields` } : {}),
      },
      stored: { [resource]: Object.fromEntries(fit) },
    }
  },
}

/** A record with the names behind its ids, as far as the caller may read them. */
export async function readRecord(api: Api, resource: string, id: number): Promise<JsonObject> {
  const expand = expandable(seenFields(schemaOf(api, resource)), api.caller.rights)
  const query = expand ? { expand } : {}
  const { data } = await api.call({ operation: `${resource}_get`, id, query })
  return data as JsonObject
}

const linesMax = 20

/** The product lines in an amount, each as a text. */
function linesOf(value: Json): Json[] | null {
  const lines = isObject(value) && Array.isArray(value.products) ? value.products.filter(isObject) : []
  if (lines.length === 0) return null
  const shown = lines
    .slice(0, linesMax)
    .map(({ name, quantity, unit_price, amount }) =>
      [quantity, '×', name, 'at', unit_price, '=', amount]
        .map(part => (typeof part === 'string' ? part : JSON.stringify(part ?? null)))
        .join(' '),
    )
  return lines.length > linesMax ? [...shown, `${lines.length - linesMax} more lines`] : shown
}
