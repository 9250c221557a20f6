/**
 * The administration of fields, options and forms (D36). A change is validated against the account's current
 * catalog, and saved by one statement, with optimistic locking: on a version conflict it is validated again
 * (D52). Knows no HTTP.
 */
import { type Problem, Refusal } from '../errors.ts'
import type { Catalog, ResourceSchema, Section } from '../fields/catalog.ts'
import type { Field, Option } from '../fields/field.ts'
import { momentPlaceholder } from '../fields/moment.ts'
import type { Json } from '../json.ts'
import { storedResponse } from '../records/idempotency.ts'
import { requireVersion } from '../records/precondition.ts'
import { missingReferences, readReferences, referenceStatesIn } from '../records/references.ts'
import { reserveIds } from '../records/write/protocol.ts'
import { callerParamsOf } from '../rights/visibility.ts'
import { wantsIndex, withinBounds, withinIndexes } from './bounds.ts'
import {
  changedField,
  freeName,
  givenByRoles,
  hasOwnOptions,
  ownOptions,
  rowOf,
  type Shape,
} from './field.ts'
import { formOf, formVersion, newForm, withUnseen } from './form.ts'
import { countIndexes } from './indexes.ts'
import { idsNeeded, newField } from './new-field.ts'
import { withChangedOption, withNewOption } from './option.ts'
import {
  type ConfigurationContext,
  requestOf,
  retryOnConflict,
  type SavedConfiguration,
} from './retry-on-conflict.ts'
import { changeOfKeys, refuseDoubles } from './unique.ts'
import type { Validation } from './validation.ts'

/**
 * Adds a custom field. Throws `validation_failed` with all problems, `duplicate` if only its name is taken.
 */
export async function createField(context: ConfigurationContext, body: Json): Promise<SavedConfiguration> {
  const { db, account } = context
  const before = await storedResponse<SavedConfiguration>(db, requestOf(context))
  if (before) return before.response
  const id = await reserveIds(db, account, 'last_field_id', idsNeeded(body))
  return change(context, id, 'created', (_catalog, validation) => newField(body, id, validation))
}

/**
 * Changes a field's label, limits, place and so on. Throws the errors of createField, `field_not_found` and
 * `version_conflict`.
 */
export async function updateField(
  context: ConfigurationContext,
  id: number,
  body: Json,
): Promise<SavedConfiguration> {
  return change(context, id, 'updated', (catalog, validation) => {
    const { field, schema } = fieldAsRead(context, catalog, id, validation)
    return changedField(field, schema, body, validation)
  })
}

/** Soft-deletes a custom field; its values stay for the retention period (D36). */
export async function deleteField(context: ConfigurationContext, id: number): Promise<SavedConfiguration> {
  return change(context, id, 'deleted', (catalog, validation) => {
    const { field } = fieldAsRead(context, catalog, id, validation)
    if (!field.is_custom) throw notCustom(field)
    const row = {
      ...rowOf(field),
      is_active: false,
      is_indexed: false,
      is_unique: false,
      deleted_at: momentPlaceholder,
    }
    return { row, options: ownOptions(field), sections: null }
  })
}

/** Restores a field, with its values, that was deleted at `oldest` or later. Older ones are being purged. */
export async function restoreField(
  context: ConfigurationContext,
  id: number,
  oldest: Date,
): Promise<SavedConfiguration> {
  return change(context, id, 'restored', (catalog, validation) => {
    const found = fieldById(catalog, id)
    const { deleted_at } = found?.field ?? {}
    if (!found || !deleted_at || deleted_at < oldest.toISOString() || validation.isHidden(found.field))
      throw fieldNotFound(id, 'no deleted field')
    const { field, schema } = found
    refuseOther(context, field)
    freeName(schema, undefined, field.field_name, validation)
    return {
      row: { ...rowOf(field), is_active: true, deleted_at: null },
      options: ownOptions(field),
      sections: null,
    }
  })
}

/** Adds an option to a dropdown or multiselect. Returns the option's id. */
export async function createOption(
  context: ConfigurationContext,
  fieldId: number,
  body: Json,
): Promise<SavedConfiguration> {
  const { db, account } = context
  const before = await storedResponse<SavedConfiguration>(db, requestOf(context))
  if (before) return before.response
  const id = await reserveIds(db, account, 'last_field_id', 1)
  return changeOptions(context, fieldId, id, (field, validation) =>
    withNewOption(field, body, id, validation),
  )
}

export async function updateOption(
  context: ConfigurationContext,
  fieldId: number,
  id: number,
  body: Json,
): Promise<SavedConfiguration> {
  return changeOptions(context, fieldId, id, (field, validation) =>
    withChangedOption(field, findOption(field, id), body, validation),
  )
}

/**
 * Arranges the whole form of a resource, with the fields that the administrator's role does not hide (D64).
 */
export async function arrangeForm(
  context: ConfigurationContext,
  source: string,
  body: Json,
): Promise<readonly Section[]> {
  const { form } = await retryOnConflict(context, async (catalog, validation) => {
    const schema = catalog.resources.get(source)
    if (!schema) throw new Refusal('field_not_found', `There is no source "${source}".`)
    const visibleSchema = { ...schema, fields: schema.fields.filter(field => !validation.isHidden(field)) }
    const version = formVersion(formOf(visibleSchema))
    const { precondition = null } = context
    requireVersion(`The form of ${source}`, version, precondition)
    const form = newForm(body, visibleSchema, validation)
    const sections = withUnseen(schema, form, validation.isHidden)
    return { change: { verb: 'updated', resource: source, field: null, sections }, response: { form } }
  })
  return form
}

/** A field that is not deleted, with its schema; null if there is none. */
export function findField(catalog: Catalog, id: number): { field: Field; schema: ResourceSchema } | null {
  const found = fieldById(catalog, id)
  return found?.field.deleted_at || found?.field.is_hidden ? null : found
}

export function findOption(field: Field, id: number): Option {
  const option = field.options.find(option => option.id === id)
  if (!option) throw new Refusal('field_not_found', `${field.internal_name} has no option ${id}.`)
  return option
}

/**
 * Like findField. Throws `field_not_found`, also for a field that the role hides, as if it did not exist
 * (D64), and `version_conflict` if the field's version does not match the precondition.
 */
function fieldAsRead(
  context: ConfigurationContext,
  catalog: Catalog,
  id: number,
  { isHidden }: Validation,
): { field: Field; schema: ResourceSchema } {
  const found = findField(catalog, id)
  if (!found || isHidden(found.field)) throw fieldNotFound(id, 'no field')
  refuseOther(context, found.field)
  return found
}

function refuseOther({ precondition = null }: ConfigurationContext, { id, version }: Field): void {
  requireVersion(`The field ${id}`, version, precondition)
}

function changeOptions(
  context: ConfigurationContext,
  fieldId: number,
  id: number,
  optionsAfter: (field: Field, validation: Validation) => readonly Option[],
): Promise<SavedConfiguration> {
  return change(context, id, 'updated', (catalog, validation) => {
    const { field } = fieldAsRead(context, catalog, fieldId, validation)
    if (!hasOwnOptions(field)) {
      throw new Refusal('not_a_dropdown', `${field.internal_name} has no options that an account can change.`)
    }
    const options = optionsAfter(field, validation)
    const inUse = new Set(options.filter(option => option.is_active).map(option => option.id))
    const { default_value } = field
    // An inactive option is removed from the default.
    const kept = Array.isArray(default_value)
      ? default_value.filter(id => inUse.has(id as number))
      : default_value
    return {
      row: { ...rowOf(field), default_value: Array.isArray(kept) && kept.length === 0 ? null : kept },
      options,
      sections: null,
    }
  })
}

/** Carries out a change of a field. `id`: the subject of the response, the field or one of its options. */
async function change(
  context: ConfigurationContext,
  id: number,
  verb: string,
  shape: (catalog: Catalog, validation: Validation) => Shape | null,
): Promise<SavedConfiguration> {
  return retryOnConflict(context, async (catalog, validation) => {
    const shaped = shape(catalog, validation)
    if (shaped) {
      withinBounds(shaped, validation)
      givenByRoles(shaped, validation)
    }
    if (shaped && wantsIndex(shaped, catalog)) {
      withinIndexes(await countIndexes(context.db, shaped.row.resource), shaped, validation)
    }
    const asked = await readReferences(
      context.db,
      callerParamsOf(context.caller ?? { catalog, actor: context.actor }),
      validation.references,
    )
    for (const problem of missingReferences(validation.references, referenceStatesIn(asked)))
      validation.problems.add(() => problem)
    if (!shaped) return null
    const keys = changeOfKeys(shaped, catalog)
    if (keys?.isUnique) await refuseDoubles(context, catalog, keys, validation)
    const { sections, row } = shaped
    const response = { id, warnings: validation.warnings }
    return { change: { verb, resource: row.resource, field: shaped, sections, keys }, response }
  })
}

function fieldById(catalog: Catalog, id: number): { field: Field; schema: ResourceSchema } | null {
  for (const schema of catalog.resources.values()) {
    const field = schema.fields.find(field => field.id === id)
    if (field) return { field, schema }
  }
  return null
}

export function fieldNotFound(id: number, what: string): Refusal {
  return new Refusal('field_not_found', `There is ${what} ${id}.`)
}

function notCustom({ internal_name }: Field): Refusal {
  const problem: Problem = {
    field: internal_name,
    path: '',
    code: 'interface_required',
    message: `${internal_name} is a field of the interface.`,
  }
  return new Refusal('validation_failed', 'Only custom fields can be deleted; others can be deactivated.', [
    problem,
  ])
}
