/** Bodies whose fields are inside one member, as other systems send them: refused with what to do. */
import type { Problems } from '../errors.ts'
import { type ResourceSchema, shownField } from '../fields/catalog.ts'
import { pluralOf } from '../fields/synonyms.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../json.ts'

/** Members in which other systems wrap the fields of a record, besides its resource's name. */
const wrappers = new Set(['data', 'properties', 'attributes', 'fields', 'record', 'body'])
/** Beside the wrapped fields, other systems send an id, a type or the like. */
const mostWrapped = 5

/** The member that wraps the fields of the record, if the body itself has none of them. */
export function wrapperOf(
  body: JsonObject,
  sent: ReadonlySet<string>,
  schema: ResourceSchema,
): string | undefined {
  if (sent.size > mostWrapped || [...sent].some(member => shownField(schema, member))) return undefined
  const { name } = schema.resource
  const isRecord = (value: Json) => isObject(value) || (Array.isArray(value) && isObject(value[0]))
  return [...sent].find(
    member =>
      isRecord(body[member]!) && (wrappers.has(member) || member === name || member === pluralOf(name)),
  )
}

export function refuseWrapper(wrapper: string, path: string, problems: Problems): void {
  problems.add(
    () => ({
      field: null,
      path: `${path}/${pointerStep(wrapper)}`,
      code: 'wrapped',
      message: `The fields are inside "${wrapper}".`,
    }),
    `Send the fields themselves as the body, without "${wrapper}" around them.`,
  )
}
