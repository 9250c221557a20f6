/** Validates a new custom field (D36): its name, type and first options. Finds all problems at once. Pure. */
import type { FieldRow, ResourceSchema } from '../fields/catalog.ts'
import type { Option } from '../fields/field.ts'
import { customTypes, type FieldType, kinds, optionsMax } from '../fields/kinds.ts'
import { isSameName, plainWords } from '../fields/name.ts'
import { suggestion } from '../fields/nearest.ts'
import { asText, isObject, type Json, pointerStep } from '../json.ts'
import { described, fixed, freeName, type Shape, settable, shaped } from './field.ts'
import { membersOf, nameOf, type Validation, warnOfReadOnly } from './validation.ts'

/** The field in a body, with the id `id`; its options take the following ids. */
export function newField(body: Json, id: number, validation: Validation): Shape | null {
  const sent = membersOf(body, [...settable, ...fixed, 'options'], described, validation)
  const schema = sourceOf(sent.source, validation)
  const field_name = nameOf(sent.field_name, '/field_name', validation)
  const type = typeOf(sent.type, validation)
  const internal_name = internalName(sent.internal_name, field_name, validation)
  if (schema) freeName(schema, internal_name, field_name, validation)
  if (!schema || !type) return null
  const row: FieldRow = {
    id,
    resource: schema.resource.name,
    // A stand-in, so that all other problems are found too.
    internal_name: internal_name ?? 'cf_',
    field_name: field_name ?? '',
    type,
    config: kinds[type].custom!,
    default_value: null,
    is_required: false,
    is_active: true,
    is_indexed: false,
    is_unique: false,
    deleted_at: null,
    version: 1,
  }
  const options = newOptions(sent.options, type, id + 1, validation)
  return shaped(sent, row, options, schema, validation)
}

/** Number of ids that a new field needs: its own and its options'. */
export function idsNeeded(body: Json): number {
  return 1 + (isObject(body) && Array.isArray(body.options) ? Math.min(body.options.length, optionsMax) : 0)
}

function sourceOf(source: Json | undefined, validation: Validation): ResourceSchema | undefined {
  const { resources } = validation.catalog
  if (typeof source === 'string' && resources.has(source)) return resources.get(source)
  const code = source === undefined ? 'required' : 'invalid_value'
  return validation.reject(
    '/source',
    code,
    'must name the resource of the field',
    `One of: ${[...resources.keys()].join(', ')}.`,
  )
}

function typeOf(type: Json | undefined, validation: Validation): FieldType | undefined {
  const known = customTypes.find(name => name === type)
  if (known) return known
  const hint = () => suggestion(asText(type), customTypes, `One of: ${customTypes.join(', ')}.`)
  return validation.reject(
    '/type',
    type === undefined ? 'required' : 'invalid_value',
    'must be a type that a custom field may have',
    hint,
  )
}

/** The requested name, or cf_ and the letters and digits of the display name. */
function internalName(
  sent: Json | undefined,
  name: string | undefined,
  validation: Validation,
): string | undefined {
  if (sent === undefined || sent === null) {
    const words = plainWords(name ?? '')
    if (words.length) return `cf_${words.join('_')}`.slice(0, 60)
    return (
      name &&
      validation.reject(
        '/internal_name',
        'required',
        'must be given, because the name has no letters a to z',
        'For example "cf_industry".',
      )
    )
  }
  if (typeof sent === 'string' && /^cf_[a-z0-9][a-z0-9_]{0,56}$/.test(sent)) return sent
  const hint = 'For example "cf_industry".'
  return validation.reject(
    '/internal_name',
    'invalid_value',
    'must be cf_ and up to 57 letters a to z, digits and _',
    hint,
  )
}

function newOptions(
  sent: Json | undefined,
  type: FieldType,
  firstId: number,
  validation: Validation,
): Option[] {
  if (sent === undefined || sent === null) return []
  if (!kinds[type].hasOptions) {
    validation.reject(
      '/options',
      'not_configurable',
      `can only be given for dropdowns and multiselects, not for ${type}`,
    )
    return []
  }
  if (!Array.isArray(sent)) {
    validation.reject('/options', 'wrong_type', 'must be an array of names', 'For example ["Gold","Silver"].')
    return []
  }
  if (sent.length > optionsMax) {
    validation.reject('/options', 'too_many', `must have at most ${optionsMax} entries`)
    return []
  }
  const places = sent.map((item, index) => `/options/${index}${isObject(item) ? '/name' : ''}`)
  const names = sent.map((item, index) => {
    if (isObject(item) && item.id !== undefined) warnOfReadOnly('options', validation, `/options/${index}/id`)
    const unknown = isObject(item)
      ? Object.keys(item).filter(member => member !== 'name' && member !== 'id')
      : []
    for (const member of unknown)
      validation.reject(
        `/options/${index}/${pointerStep(member)}`,
        'unknown_field',
        'is not a member of a new option',
      )
    return nameOf(isObject(item) ? item.name : item, places[index]!, validation)
  })
  for (const [index, name] of names.entries()) {
    const first =
      name === undefined ? index : names.findIndex(other => other !== undefined && isSameName(other, name))
    if (first < index)
      validation.reject(places[index]!, 'name_taken', `is "${name}", which is the name of another option`)
  }
  return names.map((name, index) => ({
    id: firstId + index,
    name: name ?? '',
    position: index + 1,
    is_active: true,
    is_default: false,
  }))
}
