/** The schemas of an account's document as TypeScript (D139), for the authors of clients. Pure. */
import type { Catalog } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { schemasOf } from './document.ts'

const head = `// Made from the service's OpenAPI document. It is not to be changed by hand.

`

/** A module with the interface Schemas: schema → TypeScript type of its JSON. */
export function typesOf(catalog: Catalog): string {
  const members = Object.entries(schemasOf(catalog)).map(([name, schema]) => member(name, schema, '  ', true))
  return `${head}export interface Schemas {\n${members.join('')}}\n`
}

/** A module with the names of all resources, from which the client makes its members. */
export function resourceNamesOf({ resources }: Catalog): string {
  const names = [...resources.keys()].map(name => `  ${quoted(name)},\n`)
  return `${head}export const resourceNames = [\n${names.join('')}] as const\n`
}

function member(name: string, schema: Schema, indent: string, isRequired: boolean): string {
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
  const { title, description, readOnly } = schema
  const lines = [title, description, readOnly && 'Read-only.'].filter(text => typeof text === 'string')
  const comment = lines.length
    ? `${indent}/** ${onOneLine(lines.join(' ')).replaceAll('*/', '* /')} */\n`
    : ''
  return `${comment}${indent}${key}${isRequired ? '' : '?'}: ${typeOf(schema, indent)}\n`
}

/**
 * Descriptions without control characters: a comment may be shown in a terminal, and field names are input.
 */
function onOneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, const: only, enum: values, allOf, anyOf, oneOf, type } = schema
  if (typeof $ref === 'string') return `Schemas[${quoted($ref.split('/').at(-1)!)}]`
  if (Array.isArray(allOf)) return allOf.map(one => typeOf(one as Schema, indent)).join(' & ')
  if (only !== undefined) return JSON.stringify(only)
  // Ids are typed as numbers: an account may add options later (D91).
  if (Array.isArray(values) && type !== 'integer') return union(values.map(value => JSON.stringify(value)))
  const either = anyOf ?? oneOf
  if (Array.isArray(either)) return union(either.map(one => typeOf(one as Schema, indent)))
  return union([type ?? 'any'].flat().map(one => simpleType(one as Json, schema, indent)))
}

function simpleType(type: Json, schema: Schema, indent: string): string {
  switch (type) {
    case 'null':
    case 'string':
    case 'boolean':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${typeOf((schema.items ?? {}) as Schema, indent)}>`
    case 'object':
      return objectType(schema, indent)
    default:
      return 'unknown'
  }
}

function objectType({ properties, required, additionalProperties }: Schema, indent: string): string {
  if (!isObject(properties)) {
    const values = isObject(additionalProperties) ? typeOf(additionalProperties as Schema, indent) : 'unknown'
    return `{ [name: string]: ${values} }`
  }
  const needed = new Set(Array.isArray(required) ? required : [])
  const members = Object.entries(properties as JsonObject).map(([name, one]) =>
    member(name, one as Schema, `${indent}  `, needed.has(name)),
  )
  return `{\n${members.join('')}${indent}}`
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

function quoted(text: Json): string {
  return `'${String(text).replace(/[\\']/g, '\\$&')}'`
}
