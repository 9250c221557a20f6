/**
 * The administration of fields, options and forms (D36). A change is judged on the account's whole catalog as
 * it is now, and saved by one statement. If somebody else has saved a change in between, it is judged again
 * (D52). Knows no HTTP.
 */
import { Refusal, type Warning } from '../errors.ts'
import type { Catalog, ResourceFields, Section } from '../fields/catalog.ts'
import type { Field, Option } from '../fields/field.ts'
import { moment } from '../fields/moment.ts'
import { isSameJson, type Json } from '../json.ts'
import { type Once, recall } from '../records/once.ts'
import { isMet, type Precondition, versionConflict } from '../records/precondition.ts'
import { askReferences, missingReferences } from '../records/references.ts'
import type { Queryable } from '../records/store.ts'
import { reserveIds } from '../records/write.ts'
import { wantsIndex, withinBounds, withinIndexes } from './bounds.ts'
import { changedField, freeName, hasOwnOptions, idsNeeded, newField, rowOf, type Shape } from './field.ts'
import { formOf, formVersion, newForm, storedForm } from './form.ts'
import { countIndexes } from './indexes.ts'
import { type Judgement, judgement } from './judge.ts'
import { withChangedOption, withNewOption } from './option.ts'
import { type Change, saveChange } from './save.ts'

/** Who administers, and how the catalog is read: always as the database has it now. */
export type Administrator = {
  readonly db: Queryable
  readonly account: number
  readonly actor: number
  /** for what is changed: the form or the field, also when the change is to one of the field's options */
  readonly precondition?: Precondition
  /** the key under which a change is carried out once */
  readonly once?: Once | null
  loadCatalog(): Promise<Catalog>
  readonly turns: Turns
}

/**
 * The last change under way in each account. The changes of one process take turns, so that none makes the
 * judgement of another out of date. A change that another process made out of date is judged anew.
 */
export type Turns = Map<number, Promise<unknown>>

export type Administered = { readonly id: number; readonly warnings: readonly Warning[] }

const attempts = 10

/**
 * Adds a custom field. Throws `validation_failed` with every problem, `duplicate` when only its name is
 * taken.
 */
export async function createField(administrator: Administrator, body: Json): Promise<Administered> {
  const { db, account } = administrator
  const before = await recall<Administered>(db, askedOnce(administrator))
  if (before) return before.told
  const id = await reserveIds(db, account, 'last_field_id', idsNeeded(body))
  return change(administrator, id, 'created', (_catalog, judge) => newField(body, id, judge))
}

/**
 * Changes a field's label, limits, place and so on. Throws as createField does, and `field_not_found` and
 * `version_conflict`.
 */
export async function updateField(
  administrator: Administrator,
  id: number,
  body: Json,
): Promise<Administered> {
  return change(administrator, id, 'updated', (catalog, judge) => {
    const { field, fields } = fieldAsRead(administrator, catalog, id)
    return changedField(field, fields, body, judge)
  })
}

/** Takes a custom field away; its values stay for a while (D36). */
export async function deleteField(administrator: Administrator, id: number): Promise<Administered> {
  return change(administrator, id, 'deleted', catalog => {
    const { field } = fieldAsRead(administrator, catalog, id)
    if (!field.is_custom) throw notCustom(field)
    const row = { ...rowOf(field), is_active: false, is_indexed: false, deleted_at: moment }
    return { row, options: ownOptions(field), sections: null }
  })
}

/**
 * Brings back a field, with its values, that was deleted at `oldest` or later. The values of a field that was
 * deleted before are being purged.
 */
export async function restoreField(
  administrator: Administrator,
  id: number,
  oldest: Date,
): Promise<Administered> {
  return change(administrator, id, 'restored', (catalog, judge) => {
    const found = fieldById(catalog, id)
    if (!found?.field.deleted_at || found.field.deleted_at < oldest.toISOString())
      throw fieldNotFound(id, 'no deleted field')
    const { field, fields } = found
    refuseOther(administrator, field)
    freeName(fields, undefined, field.field_name, judge)
    return {
      row: { ...rowOf(field), is_active: true, deleted_at: null },
      options: ownOptions(field),
      sections: null,
    }
  })
}

/** Adds an option to a dropdown or multiselect: the option's id. */
export async function createOption(
  administrator: Administrator,
  fieldId: number,
  body: Json,
): Promise<Administered> {
  const { db, account } = administrator
  const before = await recall<Administered>(db, askedOnce(administrator))
  if (before) return before.told
  const id = await reserveIds(db, account, 'last_field_id', 1)
  return changeOptions(administrator, fieldId, id, (field, judge) => withNewOption(field, body, id, judge))
}

export async function updateOption(
  administrator: Administrator,
  fieldId: number,
  id: number,
  body: Json,
): Promise<Administered> {
  return changeOptions(administrator, fieldId, id, (field, judge) =>
    withChangedOption(field, findOption(field, id), body, judge),
  )
}

/** Takes an option out of use: records that have it keep it (D10). */
export function deleteOption(
  administrator: Administrator,
  fieldId: number,
  id: number,
): Promise<Administered> {
  return updateOption(administrator, fieldId, id, { is_active: false })
}

/** Arranges the whole form of a resource. */
export async function arrangeForm(
  administrator: Administrator,
  source: string,
  body: Json,
): Promise<readonly Section[]> {
  const { form } = await attempt(administrator, async (catalog, judge) => {
    const fields = catalog.resources.get(source)
    if (!fields) throw new Refusal('field_not_found', `There is no source "${source}".`)
    const version = formVersion(formOf(fields))
    const { precondition = null } = administrator
    if (!isMet(precondition, version)) throw versionConflict(`The form of ${source}`, version, precondition)
    const sections = newForm(body, fields, judge)
    const form = sections.map(part => ({
      ...part,
      fields: part.fields.filter(name => !fields.byName.get(name)?.deleted_at),
    }))
    return { change: { verb: 'updated', resource: source, field: null, sections }, told: { form } }
  })
  return form
}

/** A field that is not deleted, by its id. Throws `field_not_found`. */
export function findField(catalog: Catalog, id: number): { field: Field; fields: ResourceFields } {
  const found = fieldById(catalog, id)
  if (!found || found.field.deleted_at || found.field.is_hidden) throw fieldNotFound(id, 'no field')
  return found
}

export function findOption(field: Field, id: number): Option {
  const option = field.options.find(option => option.id === id)
  if (!option) throw new Refusal('field_not_found', `${field.internal_name} has no option ${id}.`)
  return option
}

/** The same, refused when its version is not the one that the administrator has read. */
function fieldAsRead(
  administrator: Administrator,
  catalog: Catalog,
  id: number,
): { field: Field; fields: ResourceFields } {
  const found = findField(catalog, id)
  refuseOther(administrator, found.field)
  return found
}

function refuseOther({ precondition = null }: Administrator, { id, version }: Field): void {
  if (!isMet(precondition, version)) throw versionConflict(`The field ${id}`, version, precondition)
}

function changeOptions(
  administrator: Administrator,
  fieldId: number,
  id: number,
  judgeOptions: (field: Field, judge: Judgement) => readonly Option[],
): Promise<Administered> {
  return change(administrator, id, 'updated', (catalog, judge) => {
    const { field } = fieldAsRead(administrator, catalog, fieldId)
    if (!hasOwnOptions(field)) {
      throw new Refusal('not_a_dropdown', `${field.internal_name} has no options that an account can change.`)
    }
    const options = judgeOptions(field, judge)
    const inUse = new Set(options.filter(option => option.is_active).map(option => option.id))
    const { default_value } = field
    // A default that names an option out of use is no longer filled in.
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

/** Carries out a change of a field. `id` is the subject of the answer: the field, or one of its options. */
async function change(
  administrator: Administrator,
  id: number,
  verb: string,
  shape: (catalog: Catalog, judge: Judgement) => Shape | null,
): Promise<Administered> {
  return attempt(administrator, async (catalog, judge) => {
    const shaped = shape(catalog, judge)
    if (shaped) withinBounds(shaped, judge)
    if (shaped && wantsIndex(shaped, catalog)) {
      withinIndexes(await countIndexes(administrator.db, shaped.row.resource), shaped, judge)
    }
    const asked = await askReferences(administrator.db, catalog, judge.references)
    for (const problem of missingReferences(judge.references, asked)) judge.problems.add(() => problem)
    const told = { id, warnings: judge.warnings }
    return (
      shaped && {
        change: { verb, resource: shaped.row.resource, field: shaped, sections: shaped.sections },
        told,
      }
    )
  })
}

/**
 * Judges a change on a catalog: the change, and what its answer says; null where only problems were found.
 */
type Judge<T> = (catalog: Catalog, judge: Judgement) => Promise<{ change: Change; told: T } | null>

function attempt<T extends object>(administrator: Administrator, judgeChange: Judge<T>): Promise<T> {
  const { account, turns } = administrator
  const turn = (turns.get(account) ?? Promise.resolve()).then(() => tryUntilSaved(administrator, judgeChange))
  const settled = turn.catch(() => {}).finally(() => turns.get(account) === settled && turns.delete(account))
  turns.set(account, settled)
  return turn
}

async function tryUntilSaved<T extends object>(
  administrator: Administrator,
  judgeChange: Judge<T>,
): Promise<T> {
  const { db, account, actor, once = null } = administrator
  const before = await recall<T>(db, askedOnce(administrator))
  if (before) return before.told
  for (let attempt = 0; attempt < attempts; attempt++) {
    const catalog = await administrator.loadCatalog()
    const judge = judgement(catalog)
    const judged = await judgeChange(catalog, judge)
    refuseProblems(judge)
    const { change, told } = judged!
    const author = { account, version: catalog.version, actor, once }
    const saved = await saveChange(db, author, isChange(catalog, change) ? change : null, told)
    if (saved) return saved
  }
  throw new Refusal('busy_record', 'The configuration is being changed by many at once; try again.', [], {
    'retry-after': '1',
  })
}

/**
 * Whether the change would alter anything. What was read can be written back, and makes no new version (D5).
 */
function isChange({ resources }: Catalog, { resource, field, sections }: Change): boolean {
  const fields = resources.get(resource)!
  const current = fields.fields.find(({ id }) => id === field?.row.id)
  const isSame = (wanted: object, stored: object) => isSameJson(wanted as Json, stored as Json)
  const isSameField =
    !field || (current && isSame([field.row, field.options], [rowOf(current), ownOptions(current)]))
  return !isSameField || (sections !== null && !isSame(sections, storedForm(fields)))
}

function askedOnce({ account, once = null }: Administrator) {
  return { account: String(account), once }
}

function refuseProblems({ problems }: Judgement): void {
  if (problems.count === 0) return
  const isDuplicate = problems.kept.every(({ code }) => code === 'name_taken')
  const count = problems.count === 1 ? 'one problem' : `${problems.count} problems`
  throw new Refusal(
    isDuplicate ? 'duplicate' : 'validation_failed',
    `Nothing was changed: ${count}.`,
    problems,
  )
}

function ownOptions(field: Field): readonly Option[] {
  return hasOwnOptions(field) ? field.options : []
}

function fieldById(catalog: Catalog, id: number): { field: Field; fields: ResourceFields } | null {
  for (const fields of catalog.resources.values()) {
    const field = fields.fields.find(field => field.id === id)
    if (field) return { field, fields }
  }
  return null
}

function fieldNotFound(id: number, what: string): Refusal {
  return new Refusal('field_not_found', `There is ${what} ${id}.`)
}

function notCustom({ internal_name }: Field): Refusal {
  const problem = {
    field: internal_name,
    path: '',
    code: 'interface_required',
    message: `${internal_name} is a field of the interface.`,
  }
  return new Refusal('validation_failed', 'Only custom fields can be deleted; others can be deactivated.', [
    problem,
  ])
}
