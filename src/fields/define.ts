/** How a resource defines its fields, and the fields that every resource has. Data only. */
import type { Json } from '../json.ts'
import type { Expression } from './columns.ts'
import { type Config, type Field, type Option, plainField } from './field.ts'
import type { FieldType } from './kinds.ts'

/** A field of the service itself, as a resource defines it. */
export type FieldDefinition = {
  id: number
  name: string
  label: string
  type: FieldType
  required?: boolean
  readOnly?: boolean
  hidden?: boolean
  config?: Config
  default?: Json
  options?: readonly string[]
  within?: string
  related?: string
  linesOf?: string
  inBase?: string
  offered?: boolean
  rules?: readonly number[]
  help?: string
  acceptsNumber?: boolean
  email?: boolean
  /** True if the schema keeps two records of an account from having the same value */
  unique?: true
  computed?: Expression
  moves?: Expression
  volatile?: boolean
  /** the resource whose writes maintain its column; such a field is volatile */
  maintainedBy?: string
  showsOne?: boolean
  /** True if the service itself gives every record a value; required fields have one in any case */
  filled?: boolean
  derivesFrom?: readonly string[]
  ofStore?: boolean
}

/**
 * Turns sections of definitions, in the order of the form, into fields. Numbers static options from 1 in the
 * order given.
 */
export function defineFields(
  resource: string,
  sections: { readonly [title: string]: readonly FieldDefinition[] },
): Field[] {
  return Object.entries(sections).flatMap(([section, definitions]) =>
    definitions.map(definition => ({
      ...plainField,
      resource,
      id: definition.id,
      internal_name: definition.name,
      field_name: definition.label,
      type: definition.type,
      section,
      is_active: true,
      is_required: definition.required ?? false,
      is_read_only: definition.readOnly ?? false,
      is_custom: false,
      is_hidden: definition.hidden ?? false,
      is_unique: definition.unique ?? false,
      is_unique_by_index: definition.unique ?? false,
      accepts_number: definition.acceptsNumber ?? false,
      is_email: definition.email ?? false,
      config: definition.config ?? {},
      default_value: definition.default ?? null,
      options: staticOptions(definition.options ?? []),
      has_static_options: definition.options !== undefined,
      within: definition.within ?? null,
      related: definition.related ?? null,
      lines_of: definition.linesOf ?? null,
      in_base: definition.inBase ?? null,
      is_offered: definition.offered ?? false,
      rules: definition.rules ?? [],
      help: definition.help ?? null,
      computed: definition.computed ?? null,
      moves: definition.moves ?? null,
      is_volatile: definition.volatile ?? definition.maintainedBy !== undefined,
      maintained_by: definition.maintainedBy ?? null,
      shows_one: definition.showsOne ?? false,
      is_filled: definition.filled ?? definition.required ?? false,
      derives_from: definition.derivesFrom ?? [],
      is_of_store: definition.ofStore ?? false,
      version: 1,
    })),
  )
}

function staticOptions(names: readonly string[]): Option[] {
  return names.map((name, index) => ({
    id: index + 1,
    name,
    position: index + 1,
    is_active: true,
    is_default: false,
  }))
}

export function field(
  id: number,
  name: string,
  label: string,
  type: FieldType,
  more: Omit<FieldDefinition, 'id' | 'name' | 'label' | 'type'> = {},
): FieldDefinition {
  return { id, name, label, type, ...more }
}

/** The `config` of a text of at most 255 characters. */
export const shortText = { min_length: 1, max_length: 255 }

/** The part of the definition of a field that the service derives from these. */
export function derived(...names: readonly string[]) {
  return { readOnly: true, derivesFrom: names }
}

/** The first field of every resource. */
export function idField(id: number): FieldDefinition {
  return field(id, 'id', 'ID', 'SINGLE_NUMBER', { readOnly: true, ofStore: true })
}

/** The name of a record: at most 255 characters. */
export function nameField(id: number, more: { unique?: true } = {}): FieldDefinition {
  return field(id, 'name', 'Name', 'SINGLE_STRING', { required: true, config: shortText, ...more })
}

/** The time and user of a record's creation, and of its last change. */
export function authorFields(firstId: number): FieldDefinition[] {
  const at = { readOnly: true, filled: true }
  const by = { readOnly: true, related: 'user' }
  return [
    field(firstId, 'created_at', 'Created at', 'DATE_TIME', at),
    field(firstId + 1, 'updated_at', 'Updated at', 'DATE_TIME', at),
    field(firstId + 2, 'created_by', 'Created by', 'OWNER', by),
    field(firstId + 3, 'updated_by', 'Updated by', 'OWNER', by),
  ]
}

/**
 * The last fields of every resource: metadata (D18), version (D7), and the time and user of its deletion (D9,
 * D69). `deletedBy`: the id of the last one, if the next number is taken.
 */
export function recordFields(firstId: number, deletedBy: number = firstId + 3): FieldDefinition[] {
  const own = { readOnly: true, ofStore: true }
  return [
    field(firstId, 'metadata', 'Metadata', 'JSON'),
    field(firstId + 1, 'version', 'Version', 'SINGLE_NUMBER', own),
    field(firstId + 2, 'deleted_at', 'Deleted at', 'DATE_TIME', own),
    field(deletedBy, 'deleted_by', 'Deleted by', 'OWNER', { related: 'user', ...own }),
  ]
}
