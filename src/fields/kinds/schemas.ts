/** The parts of JSON Schemas (D90): of those of kinds, and of those of answers. Knows no kind. */
import type { Schema, Schemas } from '../field.ts'

/** An object that takes these members and no other; `required` are those that it needs. */
export function closed(properties: { readonly [name: string]: Schema }, required: readonly string[]): Schema {
  return { ...opened(properties, required), additionalProperties: false }
}

/** An object with these members at least. What is read may get more of them (D91). */
export function opened(
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = Object.keys(properties),
): Schema {
  return { type: 'object', properties, ...(required.length ? { required } : {}) }
}

/** A schema of the document, by its name there. */
export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** Stands in the schema of an answer whose members are fields: the resources that have them. */
export const fieldOwners = Symbol('fieldOwners')

/**
 * The schema of an answer whose members are fields of these resources, or sums of them: whoever doesn't see a
 * field isn't told of the member either (D90). The first resource counts that has a field of the name.
 */
export function madeOfFields(
  owners: readonly string[],
  { properties, ...schema }: Schema,
): Schema & { readonly [fieldOwners]: readonly string[] } {
  return { ...schema, properties, [fieldOwners]: owners }
}

/** An object with any members. Without the last word, generators of clients make one that has none. */
export const anyObject: Schema = { type: 'object', additionalProperties: true }

/** A value, or null. */
export function orNull(schema: Schema): Schema {
  if (Object.keys(schema).length === 0) return schema
  const { type, enum: values, anyOf, description, ...others } = schema
  const said = description === undefined ? {} : { description }
  if (values === undefined && anyOf === undefined && type !== undefined)
    return { type: [...new Set([type, 'null'].flat())], ...others, ...said }
  if (Array.isArray(anyOf)) return { anyOf: [...anyOf, { type: 'null' }], ...said }
  return { anyOf: [schema, { type: 'null' }] }
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

/** The schemas of a value that is sent and read as a text of a form. */
export function textOf(pattern: string, format: string, description: string): Schemas {
  return { input: { type: 'string', pattern, description }, output: { type: 'string', format } }
}
