/** How a resource defines its fields, and the fields that every resource has. Data only. */
import { type Field, type Option, plainField } from './field.ts'
import type { FieldType } from './kinds.ts'

/** A field of the service itself, as a resource defines it. `options`: the names of static ones. */
export type FieldDefinition = Pick<Field, 'id' | 'internal_name' | 'field_name' | 'type'> &
  Partial<Omit<Field, 'options'>> & { readonly options?: readonly string[] }

/**
 * Turns sections of definitions, in the order of the form, into fields. Numbers static options from 1 in the
 * order given.
 */
export function defineFields(
  resource: string,
  sections: { readonly [title: string]: readonly FieldDefinition[] },
): Field[] {
  return Object.entries(sections).flatMap(([section, definitions]) =>
    definitions.map(({ options, ...definition }) => ({
      ...plainField,
      ...{ resource, section, is_active: true, is_required: false, is_custom: false, version: 1 },
      // These follow from others, unless the definition has them.
      is_volatile: definition.maintained_by !== undefined,
      is_filled: definition.is_required ?? false,
      is_unique_by_index: definition.is_unique ?? false,
      options: staticOptions(options ?? []),
      has_static_options: options !== undefined,
      is_whole: definition.is_of_store || definition.config?.max_decimals === 0,
      ...definition,
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
  more: Omit<FieldDefinition, 'id' | 'internal_name' | 'field_name' | 'type'> = {},
): FieldDefinition {
  return { id, internal_name: name, field_name: label, type, ...more }
}

/** The `config` of a text of at most 255 characters. */
export const shortText = { min_length: 1, max_length: 255 }

/** The part of the definition of a field that the service derives from these. */
export function derived(...names: readonly string[]) {
  return { is_read_only: true, derives_from: names }
}

/** The first field of every resource. */
export function idField(id: number): FieldDefinition {
  return field(id, 'id', 'ID', 'SINGLE_NUMBER', { is_read_only: true, is_of_store: true })
}

/** The name of a record: at most 255 characters. */
export function nameField(id: number, more: { is_unique?: true } = {}): FieldDefinition {
  return field(id, 'name', 'Name', 'SINGLE_STRING', { is_required: true, config: shortText, ...more })
}

/** The time and user of a record's creation, and of its last change. */
export function authorFields(firstId: number): FieldDefinition[] {
  const at = { is_read_only: true, is_filled: true }
  const by = { is_read_only: true, related: 'user' }
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
  const own = { is_read_only: true, is_of_store: true }
  return [
    field(firstId, 'metadata', 'Metadata', 'JSON'),
    field(firstId + 1, 'version', 'Version', 'SINGLE_NUMBER', own),
    field(firstId + 2, 'deleted_at', 'Deleted at', 'DATE_TIME', own),
    field(deletedBy, 'deleted_by', 'Deleted by', 'OWNER', { related: 'user', ...own }),
  ]
}
