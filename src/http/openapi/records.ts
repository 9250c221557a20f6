/**
 * The schemas of a resource's records, for reading and for writing. Built from the fields as a caller sees
 * them: fields that a role hides are absent, locked ones read-only (D64). Pure.
 */
import { isBlank } from '../../fields/blank.ts'
import { type ResourceSchema, shownFields } from '../../fields/catalog.ts'
import type { Field, Schema } from '../../fields/field.ts'
import { arrayOf, closedObject, orNull, schemaRef } from '../../fields/kinds/schemas.ts'
import { kinds } from '../../fields/kinds.ts'
import { defaultOf, mustBeGiven } from '../../records/fill.ts'
import { resources } from '../../resources/resources.ts'
import { refined } from './operation.ts'

/**
 * `deal`: a record, or a part of it; `deal_read`: a whole record; `deal_input`: the body of an update;
 * `deal_new`: the body of a creation.
 */
export function recordSchemas(schema: ResourceSchema): { readonly [name: string]: Schema } {
  const { name } = schema.resource
  const shown = shownFields(schema)
  // A custom field without a value is absent from a record (D43).
  const always = shown.filter(field => !field.is_custom)
  const sent = shown.filter(field => !field.is_read_only)
  const needed = membersOf(sent.filter(mustBeGiven), field => bare(sentSchema(field)))
  const isFilled = (field: Field) => !isBlank(defaultOf(field))
  const filled = membersOf(sent.filter(isFilled), filledSchema)
  return {
    [name]: { type: 'object', properties: { ...membersOf(shown, readSchema), _expanded: expanded } },
    [`${name}_read`]: refined(
      name,
      membersOf(always, field => bare(readSchema(field))),
    ),
    [`${name}_input`]: closedObject({ ...membersOf(shown, sentSchema), _expanded: { readOnly: true } }),
    [`${name}_new`]: refined(`${name}_input`, { ...needed, ...filled }, Object.keys(needed)),
  }
}

function membersOf(
  fields: readonly Field[],
  schemaOf: (field: Field) => Schema,
): { readonly [name: string]: Schema } {
  return Object.fromEntries(fields.map(field => [field.internal_name, schemaOf(field)]))
}

const nameOfId = orNull(schemaRef('named'))
const expanded: Schema = {
  type: 'object',
  description: 'The names that expand asks for.',
  additionalProperties: { anyOf: [nameOfId, arrayOf(nameOfId)] },
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
  return { title: field.field_name, ...described(description, namingHint(field), help), ...taken }
}

/** The description has the default value: client generators would make a member with `default` required. */
function filledSchema(field: Field): Schema {
  const fallback = defaultOf(field)
  const { name = fallback } = field.options.find(({ id }) => id === fallback) ?? {}
  return { ...bare(sentSchema(field)), description: `If it is left out, ${JSON.stringify(name)}.` }
}

/** A schema without the texts for people: they stand where the field is described first. */
function bare({ title, description, readOnly, ...schema }: Schema): Schema {
  return schema
}

function described(...texts: readonly unknown[]): Schema {
  const description = texts.filter(Boolean).join(' ')
  return description ? { description } : {}
}

/** Tells how to name the record to which a field points (D75). */
function namingHint({ related }: Field): string | null {
  const { namedBy, isPerson } = resources.find(({ name }) => name === related) ?? {}
  if (!namedBy) return null
  const names = namedBy.map(name => name.replace(/^product_/, '').replace(/^emails?$/, 'e-mail'))
  const words = [
    'id',
    ...names.filter(name => !isPerson || name !== 'name'),
    ...(isPerson ? ['full name'] : []),
  ]
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
