/**
 * Validates a change of an option (D10, D36). An id never changes its meaning, so options are deactivated,
 * never removed. Pure.
 */
import type { Field, Option } from '../fields/field.ts'
import { kinds, optionsMax } from '../fields/kinds.ts'
import { isSameName } from '../fields/name.ts'
import type { Json, JsonObject } from '../json.ts'
import {
  booleanOf,
  givenByClosing,
  isOfClosing,
  membersOf,
  nameOf,
  positionOf,
  type Validation,
} from './validation.ts'

const members = ['name', 'position', 'is_active', 'is_default']

/**
 * True if the field's default is, or contains, the option or the record. A dropdown's own option is marked;
 * other fields name their default.
 */
export function isDefault(
  { id, is_default }: Pick<Option, 'id' | 'is_default'>,
  { default_value }: Pick<Field, 'default_value'>,
): boolean {
  return is_default || [default_value].flat().includes(id)
}

/** The options of a field, with a new one inserted at its position, or at the end. */
export function withNewOption(
  field: Field,
  body: Json,
  id: number,
  validation: Validation,
): readonly Option[] {
  const sent = membersOf(body, members, ['id'], validation)
  const name = nameOf(sent.name, '/name', validation)
  const option: Option = {
    id,
    name: name ?? '',
    position: field.options.length + 1,
    is_active: booleanOf(sent.is_active, '/is_active', validation) ?? true,
    is_default: markOf(sent, false, field, validation),
  }
  return proposed(field, option, positionOf(sent.position, validation), validation)
}

/** The options of a field, with one changed by a body. */
export function withChangedOption(
  field: Field,
  option: Option,
  body: Json,
  validation: Validation,
): readonly Option[] {
  const sent = membersOf(body, members, ['id'], validation)
  const name = sent.name === undefined ? option.name : nameOf(sent.name, '/name', validation)
  const is_active = booleanOf(sent.is_active, '/is_active', validation) ?? option.is_active
  const isMarked = markOf(sent, isDefault(option, field), field, validation)
  // A deactivated option loses its mark as default. A body that requests both is contradictory.
  const is_default = isMarked && (is_active || sent.is_default === true)
  return proposed(
    field,
    { ...option, name: name ?? '', is_active, is_default },
    positionOf(sent.position, validation),
    validation,
  )
}

/** `is_default` of an option after the change. The default of a multiselect is its `default_value` alone. */
function markOf(sent: JsonObject, before: boolean, field: Field, validation: Validation): boolean {
  const after = booleanOf(sent.is_default, '/is_default', validation) ?? before
  if (after !== before && isMulti(field)) {
    validation.reject(
      '/is_default',
      'not_configurable',
      "can be changed for options of dropdowns only: set the field's default_value",
    )
  }
  return after
}

function isMulti(field: Field): boolean {
  return kinds[field.type].term(field, '')?.multi === true
}

function proposed(
  field: Field,
  option: Option,
  position: number | undefined,
  validation: Validation,
): readonly Option[] {
  const others = field.options.filter(other => other.id !== option.id)
  const active = others.filter(other => other.is_active)
  if (option.is_active && active.length >= optionsMax) {
    validation.reject(
      '',
      'too_many',
      `A field may have ${optionsMax} options in use; this would be one more`,
      'Take one out of use first.',
    )
  }
  const same = option.is_active ? active.find(other => isSameName(other.name, option.name)) : undefined
  if (same && option.name)
    validation.reject(
      '/name',
      'name_taken',
      `is "${option.name}", which is the name of another option`,
      `It is the option ${same.id}.`,
    )
  if (option.is_default && !option.is_active)
    validation.reject('/is_default', 'contradiction', 'must be an option in use')
  const isMarked =
    option.is_default && !field.options.some(({ id, is_default }) => id === option.id && is_default)
  if (isMarked && isOfClosing(field))
    validation.reject('/is_default', 'interface_required', `must stay false: ${givenByClosing}`)
  const kept = option.is_default ? others.map(other => ({ ...other, is_default: false })) : others
  const at = position === undefined ? Math.min(option.position - 1, kept.length) : position - 1
  return [...kept.slice(0, at), option, ...kept.slice(at)].map((one, index) => ({
    ...one,
    is_default: one.is_default && !isMulti(field),
    position: index + 1,
  }))
}
