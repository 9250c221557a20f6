/**
 * Validates a change of a field (D36) against the account's catalog. Returns the new field, or all problems
 * at once. Rules of the interface can be tightened, never loosened. Pure; save.ts saves the result.
 */
import type { ProblemCode } from '../errors.ts'
import { isBlank, isHollow } from '../fields/blank.ts'
import { type FieldRow, fieldOf, type ResourceSchema, type Role, type Section } from '../fields/catalog.ts'
import { type Row, storedRow } from '../fields/columns.ts'
import type { Field, Option } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { isSameName } from '../fields/name.ts'
import { isSameJson, type Json, type JsonObject } from '../json.ts'
import { mustBeGiven } from '../records/fill.ts'
import { parseContextOf } from '../records/parse.ts'
import { type Sql, sql } from '../sql.ts'
import { moved } from './form.ts'
import { limited } from './limits.ts'
import { judgeUnique } from './unique.ts'
import {
  booleanOf,
  givenByClosing,
  isOfClosing,
  membersOf,
  nameOf,
  positionOf,
  type Validation,
} from './validation.ts'

/** The new state of a field, with its options; `sections` if the form changes too. */
export type Shape = {
  readonly row: FieldRow
  readonly options: readonly Option[]
  readonly sections: readonly Section[] | null
}

/** The members of a body for a field: changeable ones, and ones for its creation only. */
export const settable = [
  ...['field_name', 'is_required', 'is_active', 'is_indexed', 'is_unique'],
  ...['config', 'default_value', 'section', 'position'],
]
export const fixed = ['source', 'type', 'internal_name']
/** The read-only members of a descriptor: accepted and ignored in input. */
export const described = [
  ...['id', 'source_id', 'options', 'sub_fields', 'related_field', 'is_read_only', 'is_custom'],
  ...['is_filterable', 'is_sortable', 'operators', 'is_expandable', 'is_measurable'],
  ...['members', 'rules', 'index', 'deleted_at', 'version'],
]

/** A field with the changes of a body; absent members stay. */
export function changedField(
  field: Field,
  schema: ResourceSchema,
  body: Json,
  validation: Validation,
): Shape | null {
  const sent = membersOf(body, [...settable, ...fixed], described, validation)
  const present: JsonObject = { source: field.resource, type: field.type, internal_name: field.internal_name }
  for (const name of fixed) {
    if (sent[name] === undefined || sent[name] === present[name]) continue
    const message = `can't be changed; it is "${present[name]}"`
    validation.reject(`/${name}`, 'immutable', message, 'Make a new field instead.')
  }
  const row = rowOf(field)
  const name =
    sent.field_name === undefined ? row.field_name : nameOf(sent.field_name, '/field_name', validation)
  if (name && !isSameName(name, field.field_name)) freeName(schema, undefined, name, validation)
  return shaped(sent, { ...row, field_name: name ?? '' }, field.options, schema, validation)
}

/**
 * The part of a field that the account configures, as its next version. Limits of the service's own fields
 * are stored only if they differ.
 */
export function rowOf(field: Field): FieldRow {
  const { id, resource, internal_name, field_name, type, config, default_value } = field
  const { is_required, is_active, is_indexed, is_unique, deleted_at } = field
  const decided = { id, resource, internal_name, field_name, type, config, default_value }
  return { ...decided, is_required, is_active, is_indexed, is_unique, deleted_at, version: field.version + 1 }
}

export function shaped(
  sent: JsonObject,
  row: FieldRow,
  options: readonly Option[],
  schema: ResourceSchema,
  validation: Validation,
): Shape | null {
  const definition = schema.resource.fields.find(field => field.id === row.id)
  const next: FieldRow = {
    ...row,
    config: sent.config === undefined ? row.config : limited(sent.config, row, definition, validation),
    is_required: booleanOf(sent.is_required, '/is_required', validation) ?? row.is_required,
    is_active: booleanOf(sent.is_active, '/is_active', validation) ?? row.is_active,
    is_indexed: booleanOf(sent.is_indexed, '/is_indexed', validation) ?? row.is_indexed,
    is_unique: booleanOf(sent.is_unique, '/is_unique', validation) ?? row.is_unique,
  }
  if (definition) keepsInterface(next, sent, definition, validation)
  const field: Field = { ...fieldOf(next, schema, validation.catalog), options }
  if (next.is_indexed && !indexExpression(field)) {
    validation.reject('/is_indexed', 'not_indexable', 'can only be true for a custom field of one value')
  }
  const position = positionOf(sent.position, validation)
  const section = sent.section === undefined ? undefined : nameOf(sent.section, '/section', validation)
  const whole = withDefault(sent, next, field, validation)
  judgeUnique(sent, row, whole.row, field, validation)
  if (validation.problems.count) return null
  const current = schema.byName.get(row.internal_name)?.section
  const isMoved = position !== undefined || (section !== undefined && section !== current)
  return {
    ...whole,
    sections: isMoved ? moved(schema, row.internal_name, section ?? null, position ?? null) : null,
  }
}

/** The default, in the stored form of values. The default of a dropdown is a mark on its option. */
function withDefault(
  sent: JsonObject,
  row: FieldRow,
  field: Field,
  validation: Validation,
): Pick<Shape, 'row' | 'options'> {
  const options = hasOwnOptions(field) ? field.options : []
  const isMarked = hasOwnOptions(field) && !kinds[field.type].term(field, '')?.multi
  // A narrower limit is validated together with the existing default. Otherwise that default may stay, even
  // if the stage that it names is gone by now.
  const isNarrowed = sent.config !== undefined && kinds[field.type].limits !== undefined
  const input = sent.default_value === undefined && isNarrowed ? row.default_value : sent.default_value
  const isSame = !isMarked && !isNarrowed && input !== undefined && isSameJson(input, row.default_value)
  if (input === undefined || isSame) return { row, options }
  if (field.is_read_only && input !== null && !isSameJson(input, row.default_value))
    validation.reject('/default_value', 'not_configurable', "can't be set on a field that the service writes")
  const found = { ...validation, references: [] }
  // Problems name the member of the body: a new field may have no name yet.
  const context = parseContextOf({ ...field, internal_name: 'default_value' }, '/default_value', found)
  const parsed = isBlank(input) ? null : kinds[field.type].parse(input, context, row.default_value)
  const value = parsed === undefined || !isHollow(parsed) ? parsed : null
  // The existing default may stay, even if the caller may not see the records that it names.
  if (!isSameJson(value ?? null, row.default_value)) validation.references.push(...found.references)
  if (validation.nested.length)
    validation.reject('/default_value', 'not_configurable', 'must name a record that exists')
  if (value === undefined) return { row, options }
  if (!isMarked) return { row: { ...row, default_value: value }, options }
  return { row, options: options.map(option => ({ ...option, is_default: option.id === value })) }
}

/**
 * Reports a field that becomes required on creation although a role with that right hides or locks it (D64).
 */
export function givenByRoles({ row, options }: Shape, validation: Validation): void {
  const { resources, roles } = validation.catalog
  const schema = resources.get(row.resource)!
  const field = fieldOf(row, schema, validation.catalog)
  const before = schema.fields.find(({ id }) => id === row.id)
  const isNew = mustBeGiven(hasOwnOptions(field) ? { ...field, options } : field)
  if (!isNew || (before && mustBeGiven(before))) return
  const name = `${row.resource}.${row.internal_name}`
  const isUngiven = ({ scopes, hidden_fields, locked_fields }: Role) =>
    scopes.includes(`${row.resource}:write`) && [...hidden_fields, ...locked_fields].includes(name)
  const role = [...roles.values()].find(isUngiven)
  if (!role) return
  const message = `can't be true without a default value: the role ${role.name} creates records without the field`
  validation.reject('/is_required', 'required_field', message, 'Give it a default value, or change the role.')
}

/**
 * True if the account owns the field's options. It does not own those of the interface, pipelines and stages.
 */
export function hasOwnOptions(field: Field): boolean {
  return kinds[field.type].hasOptions === true && field.related === null && !field.has_static_options
}

/** The options that an account can change; none for other fields. */
export function ownOptions(field: Field): readonly Option[] {
  return hasOwnOptions(field) ? field.options : []
}

/**
 * The SQL expression of the field's own index. Null for a field that can have none: multi-valued ones, and
 * columns of the service.
 */
export function indexExpression(field: Field): Sql | null {
  const term = kinds[field.type].term(field, '')
  if (!field.is_custom || !term || term.multi || term.type === 'jsonb' || !term.order) return null
  const { looksUp, ranked, sql: order } = term.order
  const expression = looksUp ? term.sql : (ranked?.column ?? order)
  return expression(columnsAlone, nothing)
}

/** The row in an index definition: its columns need no alias, and the expression must be immutable. */
const columnsAlone: Row = { ...storedRow(), alias: sql.none, now: sql.none }
const nothing = () => sql.none

/** Field names must be unique. A deleted field still counts, because its values are stored under its name. */
export function freeName(
  schema: ResourceSchema,
  internal: string | undefined,
  name: string | undefined,
  validation: Validation,
): void {
  const taken = internal === undefined ? undefined : schema.byName.get(internal)
  if (taken) {
    const hint = taken.deleted_at
      ? `Restore it: it is the field ${taken.id}.`
      : `It is the field ${taken.id}.`
    validation.reject(
      '/internal_name',
      'name_taken',
      `is "${internal}", which is the name of ${taken.deleted_at ? 'a deleted' : 'another'} field`,
      validation.isHidden(taken) ? undefined : hint,
    )
  }
  const same = schema.fields.find(
    field =>
      name !== undefined && !field.deleted_at && !field.is_hidden && isSameName(field.field_name, name),
  )
  if (same)
    validation.reject(
      '/field_name',
      'name_taken',
      `is "${name}", which is the name of another field`,
      validation.isHidden(same) ? undefined : `It is ${same.internal_name}.`,
    )
}

/** With a default, whoever may change fields would give rights that they lack (D62). */
const givingAccess: ReadonlySet<string> = new Set(['user', 'role', 'token', 'webhook'])

/** Fields that the interface requires stay required. */
function keepsInterface(next: FieldRow, sent: JsonObject, definition: Field, validation: Validation): void {
  const by = (code: ProblemCode) => (member: string, message: string) =>
    validation.reject(`/${member}`, code, message)
  const [keep, refuse] = [by('interface_required'), by('not_configurable')]
  const { is_required, is_unique, is_read_only, rules } = definition
  const hasDefault = !isBlank(sent.default_value ?? null)
  if (is_required && !next.is_required)
    keep('is_required', 'must stay true: the interface requires the field')
  if (is_unique && sent.is_unique === false)
    keep('is_unique', 'must stay true: records are told by the field')
  if (is_read_only && next.is_required)
    refuse('is_required', "can't be set on a field that the service writes")
  // With a default for the reason or the date, a deal could be closed without anyone entering them.
  if (isOfClosing(definition)) {
    if (next.is_required) keep('is_required', 'must stay false: only a closed deal has a value in it')
    if (hasDefault) keep('default_value', `must stay empty: ${givenByClosing}`)
  }
  if (givingAccess.has(next.resource) && hasDefault)
    refuse('default_value', "can't be set on a field that says who may do what")
  if ((is_required || is_read_only || rules.length > 0) && sent.is_active === false)
    keep('is_active', 'must stay true: the rules of the interface need the field')
}
