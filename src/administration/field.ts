/**
 * Judges a change of a field (D36) against the account's catalog. Finds every problem at once, or the field
 * as it will be. Rules of the interface can be tightened, never loosened. Pure; save.ts saves what is decided
 * here.
 */
import { type FieldRow, fieldOf, type ResourceFields, type Section } from '../fields/catalog.ts'
import type { Field, Option, Row } from '../fields/field.ts'
import { customTypes, type FieldType, kinds, optionsMax } from '../fields/kinds.ts'
import { isSameName, plainWords } from '../fields/name.ts'
import { suggestion } from '../fields/nearest.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../json.ts'
import { isBlank, placeOf } from '../records/parse.ts'
import { param, type Sql, sql } from '../sql.ts'
import { moved } from './form.ts'
import { booleanOf, type Judgement, membersOf, nameOf, positionOf, report } from './judge.ts'
import { limited } from './limits.ts'

/** A field as it will be, with its options; `sections` where the form changes too. */
export type Shape = {
  readonly row: FieldRow
  readonly options: readonly Option[]
  readonly sections: readonly Section[] | null
}

const settable = [
  'field_name',
  'is_required',
  'is_active',
  'is_indexed',
  'config',
  'default_value',
  'section',
  'position',
]
const fixed = ['source', 'type', 'internal_name']
/** What a descriptor says beyond that. Sending it back is not a mistake. */
const described = [
  ...[
    'id',
    'source_id',
    'options',
    'sub_fields',
    'related_field',
    'is_read_only',
    'is_custom',
    'is_filterable',
    'is_sortable',
  ],
  ...['operators', 'is_expandable', 'members', 'rules', 'index', 'deleted_at', 'version'],
]

/** The field that a body describes, under the id `id`; its options take the ids after it. */
export function newField(body: Json, id: number, judge: Judgement): Shape | null {
  const sent = membersOf(body, [...settable, ...fixed, 'options'], described, judge)
  const fields = sourceOf(sent.source, judge)
  const field_name = nameOf(sent.field_name, '/field_name', judge)
  const type = typeOf(sent.type, judge)
  const internal_name = internalName(sent.internal_name, field_name, judge)
  if (fields) freeName(fields, internal_name, field_name, judge)
  if (!fields || !field_name || !type || !internal_name) return null
  const row: FieldRow = {
    id,
    resource: fields.resource.name,
    internal_name,
    field_name,
    type,
    config: kinds[type].custom!,
    default_value: null,
    is_required: false,
    is_active: true,
    is_indexed: false,
    deleted_at: null,
    version: 1,
  }
  const options = newOptions(sent.options, type, id + 1, judge)
  return shaped(sent, row, options, fields, judge)
}

/** How many ids a new field takes: its own and its options'. */
export function idsNeeded(body: Json): number {
  return 1 + (isObject(body) && Array.isArray(body.options) ? Math.min(body.options.length, optionsMax) : 0)
}

/** A field as a body changes it; what the body leaves out stays. */
export function changedField(
  field: Field,
  fields: ResourceFields,
  body: Json,
  judge: Judgement,
): Shape | null {
  const sent = membersOf(body, [...settable, ...fixed], described, judge)
  const present: JsonObject = { source: field.resource, type: field.type, internal_name: field.internal_name }
  for (const name of fixed) {
    if (sent[name] === undefined || sent[name] === present[name]) continue
    report(
      judge,
      `/${name}`,
      'immutable',
      `can't be changed; it is "${present[name]}"`,
      'Make a new field instead.',
    )
  }
  const row = rowOf(field)
  const name = sent.field_name === undefined ? row.field_name : nameOf(sent.field_name, '/field_name', judge)
  if (!name) return null
  if (!isSameName(name, field.field_name)) freeName(fields, undefined, name, judge)
  return shaped(sent, { ...row, field_name: name }, field.options, fields, judge)
}

/**
 * The part of a field that the account decides, as its next version. Of the service's own limits only those
 * that differ are stored.
 */
export function rowOf(field: Field): FieldRow {
  const { id, resource, internal_name, field_name, type, config, default_value } = field
  const { is_required, is_active, is_indexed, deleted_at } = field
  const decided = { id, resource, internal_name, field_name, type, config, default_value }
  return { ...decided, is_required, is_active, is_indexed, deleted_at, version: field.version + 1 }
}

function shaped(
  sent: JsonObject,
  row: FieldRow,
  options: readonly Option[],
  fields: ResourceFields,
  judge: Judgement,
): Shape | null {
  const definition = fields.resource.fields.find(field => field.id === row.id)
  const next: FieldRow = {
    ...row,
    config: sent.config === undefined ? row.config : limited(sent.config, row, definition, judge),
    is_required: booleanOf(sent.is_required, '/is_required', judge) ?? row.is_required,
    is_active: booleanOf(sent.is_active, '/is_active', judge) ?? row.is_active,
    is_indexed: booleanOf(sent.is_indexed, '/is_indexed', judge) ?? row.is_indexed,
  }
  if (definition) keepsInterface(next, sent, definition, judge)
  const field: Field = { ...fieldOf(next, fields, judge.catalog), options }
  if (next.is_indexed && !indexExpression(field)) {
    report(judge, '/is_indexed', 'not_indexable', 'can only be true for a custom field of one value')
  }
  const position = positionOf(sent.position, judge)
  const section = sent.section === undefined ? undefined : nameOf(sent.section, '/section', judge)
  const whole = withDefault(sent, next, field, judge)
  if (judge.problems.count) return null
  const current = fields.byName.get(row.internal_name)?.section
  const isMoved = position !== undefined || (section !== undefined && section !== current)
  return {
    ...whole,
    sections: isMoved ? moved(fields, row.internal_name, section ?? null, position ?? null) : null,
  }
}

/** The default, in the form in which values are stored. The default of a dropdown is a mark on its option. */
function withDefault(
  sent: JsonObject,
  row: FieldRow,
  field: Field,
  judge: Judgement,
): Pick<Shape, 'row' | 'options'> {
  const options = hasOwnOptions(field) ? field.options : []
  // A narrower limit is judged together with the existing default.
  const input =
    sent.default_value === undefined && sent.config !== undefined ? row.default_value : sent.default_value
  if (input === undefined) return { row, options }
  if (field.is_read_only && input !== null && !isSameJson(input, row.default_value))
    report(judge, '/default_value', 'not_configurable', "can't be set on a field that the service writes")
  const isMarked = hasOwnOptions(field) && !kinds[field.type].term(field, '')?.multi
  const value = isBlank(input)
    ? null
    : kinds[field.type].parse(input, placeOf(field, '/default_value', judge.catalog, judge), null)
  if (judge.nested.length)
    report(judge, '/default_value', 'not_configurable', 'must name a record that exists')
  if (value === undefined) return { row, options }
  if (!isMarked) return { row: { ...row, default_value: value }, options }
  return { row, options: options.map(option => ({ ...option, is_default: option.id === value })) }
}

/**
 * Whether the field's options belong to the account. Options of the interface, pipelines and stages do not.
 */
export function hasOwnOptions(field: Field): boolean {
  return kinds[field.type].hasOptions === true && field.related === null && !field.has_static_options
}

/**
 * SQL of what the field's own index holds. Null for a field that can have no index: one of several values, or
 * a column of the service.
 */
export function indexExpression(field: Field): Sql | null {
  const term = kinds[field.type].term(field, '')
  if (!field.is_custom || !term || term.multi || term.type === 'jsonb' || !term.order) return null
  const { looksUp, ranked, sql: order } = term.order
  const expression = looksUp ? term.sql : (ranked?.column ?? order)
  return expression(columnsAlone, noAccount)
}

/** The row of an index: its columns need no alias, and nothing in it follows the clock or looks elsewhere. */
const columnsAlone: Row = { alias: sql.none, now: sql.none }
const noAccount = param(null)

function sourceOf(source: Json | undefined, judge: Judgement): ResourceFields | undefined {
  const { resources } = judge.catalog
  if (typeof source === 'string' && resources.has(source)) return resources.get(source)
  const code = source === undefined ? 'required' : 'invalid_value'
  return report(
    judge,
    '/source',
    code,
    'must name the resource of the field',
    `One of: ${[...resources.keys()].join(', ')}.`,
  )
}

function typeOf(type: Json | undefined, judge: Judgement): FieldType | undefined {
  const known = customTypes.find(name => name === type)
  if (known) return known
  const hint = () => suggestion(String(type), customTypes, `One of: ${customTypes.join(', ')}.`)
  return report(
    judge,
    '/type',
    type === undefined ? 'required' : 'invalid_value',
    'must be a type that a custom field may have',
    hint,
  )
}

/** The given name, or cf_ and the letters and digits of the display name. */
function internalName(
  sent: Json | undefined,
  name: string | undefined,
  judge: Judgement,
): string | undefined {
  if (sent === undefined || sent === null) {
    const words = plainWords(name ?? '')
    if (words.length) return `cf_${words.join('_')}`.slice(0, 60)
    return (
      name &&
      report(
        judge,
        '/internal_name',
        'required',
        'must be given, because the name has no letters a to z',
        'For example "cf_industry".',
      )
    )
  }
  if (typeof sent === 'string' && /^cf_[a-z0-9][a-z0-9_]{0,56}$/.test(sent)) return sent
  const hint = 'For example "cf_industry".'
  return report(
    judge,
    '/internal_name',
    'invalid_value',
    'must be cf_ and up to 57 letters a to z, digits and _',
    hint,
  )
}

/**
 * With two fields of one name, one of them could not be reached. The name of a deleted field still has
 * values.
 */
export function freeName(
  fields: ResourceFields,
  internal: string | undefined,
  name: string | undefined,
  judge: Judgement,
): void {
  const taken = internal === undefined ? undefined : fields.byName.get(internal)
  if (taken) {
    const hint = taken.deleted_at
      ? `Restore it: it is the field ${taken.id}.`
      : `It is the field ${taken.id}.`
    report(
      judge,
      '/internal_name',
      'name_taken',
      `"${internal}" is the name of another field${taken.deleted_at ? ', a deleted one' : ''}`,
      hint,
    )
  }
  const same = fields.fields.find(
    field =>
      name !== undefined && !field.deleted_at && !field.is_hidden && isSameName(field.field_name, name),
  )
  if (same)
    report(
      judge,
      '/field_name',
      'name_taken',
      `"${name}" is the name of another field`,
      `It is ${same.internal_name}.`,
    )
}

function newOptions(sent: Json | undefined, type: FieldType, firstId: number, judge: Judgement): Option[] {
  if (sent === undefined || sent === null) return []
  if (!kinds[type].hasOptions) {
    report(judge, '/options', 'not_configurable', `is for dropdowns and multiselects, not for ${type}`)
    return []
  }
  if (!Array.isArray(sent)) {
    report(judge, '/options', 'wrong_type', 'must be an array of names', 'For example ["Gold","Silver"].')
    return []
  }
  if (sent.length > optionsMax) {
    report(judge, '/options', 'too_many', `must have at most ${optionsMax} entries`)
    return []
  }
  const names = sent.map((item, index) => {
    const unknown = isObject(item)
      ? Object.keys(item).filter(member => member !== 'name' && member !== 'id')
      : []
    for (const member of unknown)
      report(judge, `/options/${index}/${member}`, 'unknown_field', 'is not a member of a new option')
    return nameOf(isObject(item) ? item.name : item, `/options/${index}`, judge)
  })
  for (const [index, name] of names.entries()) {
    const first =
      name === undefined ? index : names.findIndex(other => other !== undefined && isSameName(other, name))
    if (first < index) report(judge, `/options/${index}`, 'name_taken', `has "${name}" twice`)
  }
  return names.map((name, index) => ({
    id: firstId + index,
    name: name ?? '',
    position: index + 1,
    is_active: true,
    is_default: false,
  }))
}

/** What the interface requires of its own fields stays required. */
function keepsInterface(next: FieldRow, sent: JsonObject, definition: Field, judge: Judgement): void {
  if (definition.is_required && !next.is_required) {
    report(judge, '/is_required', 'interface_required', 'must stay true: the interface requires the field')
  }
  if (definition.is_read_only && next.is_required) {
    report(judge, '/is_required', 'not_configurable', "can't be set on a field that the service writes")
  }
  // With a default for the reason or the date, a deal could be closed without anyone giving them.
  const isClosing = !definition.is_required && definition.rules.some(rule => rule === 2 || rule === 3)
  if (isClosing && next.is_required) {
    report(
      judge,
      '/is_required',
      'interface_required',
      'must stay false: only a closed deal has a value in it',
    )
  }
  if (isClosing && !isBlank(sent.default_value ?? null)) {
    report(
      judge,
      '/default_value',
      'interface_required',
      'must stay empty: the request that closes a deal gives it',
    )
  }
  const isNeeded = definition.is_required || definition.is_read_only || definition.rules.length > 0
  if (isNeeded && sent.is_active === false) {
    report(
      judge,
      '/is_active',
      'interface_required',
      'must stay true: the rules of the interface need the field',
    )
  }
}
