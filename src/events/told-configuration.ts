/**
 * What a role is told of changes of the configuration (D64): nothing of fields that it hides, and not their
 * names in a form. Which role hid a field that is gone nobody can tell: so one that hides none is told. Pure.
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../json.ts'
import { isHiddenByRole } from '../records/rendered-record.ts'
import type { EventRow } from './told.ts'

/** Whether a role is told of an event: not where it is a change of a field that the role hides. */
export function isTold({ resources }: Catalog, { resource, changes }: EventRow): boolean {
  if (resources.has(resource!)) return true
  const { field } = parseJson(changes!) as JsonObject
  return !isObject(field) || isKnown(String(field.internal_name), [resources.get(String(field.resource))!])
}

/** The changes of an event of the configuration, without the names of hidden fields. */
export function toldConfiguration({ resources }: Catalog, changes: JsonObject): JsonObject {
  const { sections } = changes
  if (!Array.isArray(sections)) return changes
  const all = [...resources.values()]
  // The event of a form does not say of which resource it is.
  const known = (names: Json) => (names as string[]).filter(name => isKnown(name, all))
  return {
    ...changes,
    sections: (sections as JsonObject[]).map(part => ({ ...part, fields: known(part.fields!) })),
  }
}

/** Whether no resource hides its field of that name; of one that is gone, whether none hides any field. */
function isKnown(name: string, among: readonly ResourceFields[]): boolean {
  const having = among.filter(({ byName }) => byName.has(name))
  if (having.length) return having.every(fields => !isHiddenByRole(fields, name))
  return among.every(({ byName, whole }) => byName === whole.byName)
}
