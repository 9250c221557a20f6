/** Building blocks of JSON Schemas (D90), for kinds and for responses. Knows no kind. */
import type { Schema, Schemas } from '../field.ts'

export const [text, whole, number, flag] = [
  ...[{ type: 'string' }, { type: 'integer' }, { type: 'number' }, { type: 'boolean' }],
] as const
export const day = { type: 'string', format: 'date' }
export const moment = { type: 'string', format: 'date-time' }

/** An object with these members and no other; `required`: the mandatory ones. */
export function closedObject(
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = [],
): Schema {
  return { ...openObject(properties, required), additionalProperties: false }
}

/** An object with at least these members. A response may get more of them (D91). */
export function openObject(
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = Object.keys(properties),
): Schema {
  return { type: 'object', properties, ...(required.length ? { required } : {}) }
}

/** A reference to a schema of the document, by name. */
export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** Marks the schema of a response whose members are fields: the resources that have them. */
export const fieldOwners = Symbol('fieldOwners')

/**
 * The schema of a response whose members are fields of these resources, or sums of them: callers who don't
 * see a field don't see the member either (D90). The first resource with a field of the name counts.
 */
export function madeOfFields(
  owners: readonly string[],
  { properties, ...schema }: Schema,
): Schema & { readonly [fieldOwners]: readonly string[] } {
  return { ...schema, properties, [fieldOwners]: owners }
}

/** An object with any members. Without additionalProperties, generators of clients produce an empty type. */
export const anyObject: Schema = { type: 'object', additionalProperties: true }

/** A value, or null. */
export function orNull(schema: Schema): Schema {
  if (Object.keys(schema).length === 0) return schema
  const { type, enum: values, anyOf, description, ...others } = schema
  const described = description === undefined ? {} : { description }
  if (values === undefined && anyOf === undefined && type !== undefined)
    return { type: [...new Set([type, 'null'].flat())], ...others, ...described }
  if (Array.isArray(anyOf)) return { anyOf: [...anyOf, { type: 'null' }], ...described }
  return { anyOf: [schema, { type: 'null' }] }
}

export function arrayOf(items: Schema): Schema {
  return { type: 'array', items }
}

/** One value, or an array of them. */
export function oneOrMore(item: Schema, maxItems: number | undefined): Schema {
  const limit = maxItems === undefined || maxItems === Number.POSITIVE_INFINITY ? {} : { maxItems }
  return { anyOf: [item, { type: 'array', items: item, ...limit }] }
}

/** Several ids, each once. */
export function several(item: Schema): Schema {
  return { type: 'array', items: item, uniqueItems: true }
}

/** The schemas of a value that is sent and read as a text with a format. */
export function textOf(pattern: string, format: string, description: string): Schemas {
  return { input: { type: 'string', pattern, description }, output: { type: 'string', format } }
}
