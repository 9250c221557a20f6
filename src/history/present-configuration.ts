/**
 * Shows a role changes of the configuration (D64), without those of fields that it hides, and without their
 * names in a form. It is unknown which role hid a deleted field, so roles that hide any field don't see its
 * changes. Pure.
 */
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../json.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'
import type { EventRow } from './present.ts'

/** True if a role may see an event: it is not about a field that the role hides. */
export function isShownToRole({ resources }: Catalog, { resource, changes }: EventRow): boolean {
  if (resources.has(resource!)) return true
  const { field } = parseJson(changes!) as JsonObject
  return !isObject(field) || isKnown(String(field.internal_name), [resources.get(String(field.resource))!])
}

/** The changes of an event of the configuration, without the names of hidden fields. */
export function presentConfiguration({ resources }: Catalog, changes: JsonObject): JsonObject {
  const { sections } = changes
  if (!Array.isArray(sections)) return changes
  const all = [...resources.values()]
  // The event of a form does not name its resource.
  const known = (names: Json) => (names as string[]).filter(name => isKnown(name, all))
  return {
    ...changes,
    sections: (sections as JsonObject[]).map(part => ({ ...part, fields: known(part.fields!) })),
  }
}

/** True if no resource hides its field of that name; for a deleted field, if none hides any field. */
function isKnown(name: string, among: readonly ResourceSchema[]): boolean {
  const having = among.filter(({ byName }) => byName.has(name))
  if (having.length) return having.every(schema => !isHiddenByRole(schema, name))
  return among.every(({ byName, whole }) => byName === whole.byName)
}
