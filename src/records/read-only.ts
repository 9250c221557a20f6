/** The warning that a read-only field in a body is ignored (D4). Pure. */
import type { Warning } from '../errors.ts'
import { type Catalog, type ResourceSchema, shownField } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import { isSameJson, type JsonObject } from '../json.ts'

/**
 * Explains it, unless the stored value was sent. `before` is the stored record as far as the author may know
 * it: null if they may not read it (D65). Of its fields, those that the role hides are not used (D64).
 * `path`: the record's place in the body.
 */
export function ignoredWarning(
  name: string,
  body: JsonObject,
  before: Values | null,
  schema: ResourceSchema,
  catalog: Catalog,
  path: string,
): Warning {
  const { whyReadOnly } = schema.resource
  const isKept = before !== null && isSameJson(body[name]!, before[name] ?? null)
  const record = () => {
    const seen = Object.entries(before ?? {}).filter(([member]) => shownField(schema, member))
    return { ...Object.fromEntries(seen), ...body }
  }
  const why = isKept || !whyReadOnly ? null : whyReadOnly(name, body[name]!, record(), catalog)
  const message = `The field is read-only; what was sent is ignored.${why ? ` ${why}` : ''}`
  return { field: name, path: `${path}/${name}`, code: 'read_only', message }
}
