/**
 * The schemas of a resource's records: as they are read, and as they are sent. Made of the fields as a caller
 * sees them: what a role hides is absent, what it locks is read-only (D64). Pure.
 */

import { isBlank } from '../fields/blank.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Field, Schema } from '../fields/field.ts'
import { orNull } from '../fields/kinds/schemas.ts'
import { kinds } from '../fields/kinds.ts'
import { defaultOf, mustBeGiven } from '../records/fill.ts'
import { resources } from '../resources.ts'
import { named } from './about.ts'

/** The fields that there are for a caller. */
export function shownFields({ fields }: ResourceFields): Field[] {
  return fields.filter(field => field.is_active && !field.is_hidden)
}

/**
 * `deal`: a record, or a part of it; `deal_read`: a whole record; `deal_input`: what an update takes;
 * `deal_new`: what creates one.
 */
export function recordSchemas(fields: ResourceFields): { readonly [name: string]: Schema } {
  const { name } = fields.resource
  const shown = shownFields(fields)
  const membersOf = (schemaOf: (field: Field) => Schema) =>
    Object.fromEntries(shown.map(field => [field.internal_name, schemaOf(field)]))
  // A custom field without a value is absent from a record (D43).
  const always = shown.filter(field => !field.is_custom).map(field => field.internal_name)
  const needed = shown
    .filter(field => mustBeGiven(field) && !field.is_read_only)
    .map(field => field.internal_name)
  return {
    [name]: { type: 'object', properties: { ...membersOf(readSchema), _expanded: expanded } },
    [`${name}_read`]: { ...named(name), required: always },
    [`${name}_input`]: {
      type: 'object',
      properties: { ...membersOf(sentSchema), _expanded: { readOnly: true } },
      additionalProperties: false,
    },
    [`${name}_new`]: { ...named(`${name}_input`), ...(needed.length ? { required: needed } : {}) },
  }
}

const nameOfId = orNull(named('named'))
const expanded: Schema = {
  type: 'object',
  description: 'The names that expand asks for.',
  additionalProperties: { anyOf: [nameOfId, { type: 'array', items: nameOfId }] },
}

function readSchema(field: Field): Schema {
  const { output } = kinds[field.type].schema(field)
  return {
    title: field.field_name,
    ...(field.is_filled ? output : orNull(output)),
    ...(field.is_read_only ? { readOnly: true, ...described(field.help) } : {}),
  }
}

function sentSchema(field: Field): Schema {
  const { help } = field
  if (field.is_read_only) return { readOnly: true, ...described(help) }
  const { input } = kinds[field.type].schema(field)
  const { description, ...taken } = field.is_required ? notBlank(input) : orNull(input)
  const fallback = defaultOf(field)
  return {
    title: field.field_name,
    ...described(description, toldBy(field), help),
    ...taken,
    ...(isBlank(fallback) ? {} : { default: fallback }),
  }
}

function described(...texts: readonly unknown[]): Schema {
  const description = texts.filter(Boolean).join(' ')
  return description ? { description } : {}
}

/** How the record is named to which a field points (D75). */
function toldBy({ related }: Field): string | null {
  const { namedBy } = resources.find(({ name }) => name === related) ?? {}
  if (!namedBy) return null
  const words = ['id', ...namedBy.map(name => name.replace(/^product_/, '').replace(/^emails?$/, 'e-mail'))]
  return `Give a ${related} by its ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`
}

/** A required field takes no blanks and no empty list. */
function notBlank(input: Schema): Schema {
  const types = [input.type, ...((input.anyOf as Schema[] | undefined) ?? []).map(({ type }) => type)].flat()
  return {
    ...(types.includes('string') ? { pattern: '\\S' } : {}),
    ...(types.includes('array') ? { minItems: 1 } : {}),
    ...input,
  }
}
