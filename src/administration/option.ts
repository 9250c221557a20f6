/**
 * Judges a change of an option (D10, D36). An id never changes its meaning, so options are taken out of use
 * and never removed. Pure.
 */
import type { Field, Option } from '../fields/field.ts'
import { kinds, optionsMax } from '../fields/kinds.ts'
import { isSameName } from '../fields/name.ts'
import type { Json } from '../json.ts'
import { booleanOf, type Judgement, membersOf, nameOf, positionOf, report } from './judge.ts'

const members = ['name', 'position', 'is_active', 'is_default']

/** The options of a field, with the option that a body describes added: at its position, or at the end. */
export function withNewOption(field: Field, body: Json, id: number, judge: Judgement): readonly Option[] {
  const sent = membersOf(body, members, ['id'], judge)
  const name = nameOf(sent.name, '/name', judge)
  const option: Option = {
    id,
    name: name ?? '',
    position: field.options.length + 1,
    is_active: booleanOf(sent.is_active, '/is_active', judge) ?? true,
    is_default: booleanOf(sent.is_default, '/is_default', judge) ?? false,
  }
  return judged(field, option, positionOf(sent.position, judge), judge)
}

/** The options of a field with one changed as a body says. */
export function withChangedOption(
  field: Field,
  option: Option,
  body: Json,
  judge: Judgement,
): readonly Option[] {
  const sent = membersOf(body, members, ['id'], judge)
  const name = sent.name === undefined ? option.name : nameOf(sent.name, '/name', judge)
  const is_active = booleanOf(sent.is_active, '/is_active', judge) ?? option.is_active
  const isDefault = booleanOf(sent.is_default, '/is_default', judge) ?? option.is_default
  // An option that is taken out of use stops being the default. A body that asks for both contradicts itself.
  const is_default = isDefault && (is_active || sent.is_default === true)
  return judged(
    field,
    { ...option, name: name ?? '', is_active, is_default },
    positionOf(sent.position, judge),
    judge,
  )
}

function judged(
  field: Field,
  option: Option,
  position: number | undefined,
  judge: Judgement,
): readonly Option[] {
  const others = field.options.filter(other => other.id !== option.id)
  const active = others.filter(other => other.is_active)
  if (option.is_active && active.length >= optionsMax) {
    report(
      judge,
      '',
      'too_many',
      `can't have more than ${optionsMax} options in use`,
      'Take one out of use first.',
    )
  }
  const same = option.is_active ? active.find(other => isSameName(other.name, option.name)) : undefined
  if (same && option.name)
    report(
      judge,
      '/name',
      'name_taken',
      `"${option.name}" is the name of another option`,
      `It is the option ${same.id}.`,
    )
  if (option.is_default && !option.is_active)
    report(judge, '/is_default', 'contradiction', 'must be an option in use')
  if (option.is_default && kinds[field.type].term(field, '')?.multi) {
    report(judge, '/is_default', 'not_configurable', "is for dropdowns: set the field's default_value")
  }
  const kept = option.is_default ? others.map(other => ({ ...other, is_default: false })) : others
  const at = position === undefined ? Math.min(option.position - 1, kept.length) : position - 1
  return [...kept.slice(0, at), option, ...kept.slice(at)].map((one, index) => ({
    ...one,
    position: index + 1,
  }))
}
