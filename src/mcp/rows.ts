/**
 * Records as rows: which columns agents get without asking, and what is asked of the service for them. Knows
 * the resources; sends no request.
 */
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { suggestion } from '../fields/nearest.ts'
import { meantField } from '../fields/unknown-field.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { isExpandable } from '../records/expand.ts'
import { businessData } from '../resources/resources.ts'
import { mayRead, type Rights } from '../rights/rights.ts'
import { ToolRefusal } from './refusal.ts'
import { cut, shownValue } from './shown.ts'

/** Resources that agents read; business data they write, too. */
export const readable: readonly string[] = [
  ...businessData,
  ...['user', 'territory', 'tag', 'pipeline', 'pipeline_stage', 'currency'],
]

/** The columns of a row after id and name. */
const columns: { readonly [resource: string]: readonly string[] } = {
  deal: [
    ...['pipeline_stage', 'deal_value', 'sales_owner', 'company', 'primary_contact', 'expected_close_date'],
  ],
  contact: ['job_title', 'company', 'emails', 'phones'],
  company: ['website', 'phones', 'territory'],
  product: ['product_code', 'category', 'unit_price', 'active'],
  activity: ['kind', 'owner', 'due_at', 'done_at', 'deal', 'contact', 'company'],
  user: ['email', 'role', 'is_active'],
  pipeline_stage: ['pipeline', 'kind', 'probability', 'rotting_days'],
  currency: ['code', 'rate'],
}

export function seenFields({ fields }: ResourceSchema): Field[] {
  return fields.filter(field => field.is_active && !field.is_hidden)
}

/** The fields that are meant by names, as people write them. Throws ToolRefusal. */
export function fieldsNamed(names: readonly string[], schema: ResourceSchema): Field[] {
  const seen = seenFields(schema)
  const wrong = names.filter(name => !meantField(name, schema))
  if (wrong.length) {
    const known = seen.map(field => field.internal_name)
    const { name: resource } = schema.resource
    throw new ToolRefusal(
      `The ${resource} has no such field.`,
      wrong.map(name => ({
        at: name.slice(0, 80),
        message: 'There is no such field.',
        hint: suggestion(name, known, 'describe lists the fields.'),
      })),
      `describe ${JSON.stringify({ resource })}`,
    )
  }
  const named = [...new Set(names.map(name => meantField(name, schema)!))]
  return named.map(name => schema.byName.get(name)!)
}

/** The columns that a list shows: those that are asked for, or the usual ones. */
export function shownColumns(names: readonly string[] | null, schema: ResourceSchema): Field[] {
  if (names) return fieldsNamed(names, schema).filter(field => !isNaming(field, schema))
  const usual = columns[schema.resource.name] ?? []
  const seen = seenFields(schema)
  return usual.flatMap(name => seen.find(field => field.internal_name === name) ?? [])
}

function isNaming({ internal_name: name }: Field, { resource }: ResourceSchema): boolean {
  return name === 'id' || resource.shownAs.includes(name)
}

/** The parameters that ask for these fields, with the names behind ids that the caller may read. */
export function fieldParameters(
  fields: readonly Field[],
  { resource }: ResourceSchema,
  rights: Rights,
): { readonly fields: string; readonly expand?: string } {
  const names = [...new Set(['id', ...resource.shownAs, ...fields.map(field => field.internal_name)])]
  const expand = expandable(fields, rights)
  return { fields: names.join(), ...(expand ? { expand } : {}) }
}

/** The fields among these whose names the caller may read, as the parameter `expand`. */
export function expandable(fields: readonly Field[], rights: Rights): string {
  const named = fields.filter(
    field => isExpandable(field) && (!field.related || mayRead({ rights }, field.related)),
  )
  return named.map(field => field.internal_name).join()
}

/** Longer texts are cut in rows. */
const textMax = 160

/** A record as a row: id, name, and the values of the columns. */
export function rowOf(record: JsonObject, fields: readonly Field[], of: ResourceSchema): Json[] {
  const cells = fields.map(field => cut(valueIn(record, field), textMax))
  return [record.id ?? null, cut(nameOf(record, of), textMax), ...cells]
}

/** The value of a field in a record, with names. */
export function valueIn(record: JsonObject, { internal_name: name }: Field): Json {
  const names = isObject(record._expanded) ? record._expanded[name] : undefined
  return shownValue(record[name] ?? null, names)
}

export function nameOf(record: JsonObject, { resource }: ResourceSchema): string {
  const parts = resource.shownAs.map(name => record[name]).filter(part => typeof part === 'string')
  return parts.join(' ')
}
