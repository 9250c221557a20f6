/** What a file lacks that each record needs. Pure. */
import type { Field } from '../api/api.ts'
import type { Import } from './import.ts'

type Needed = Pick<
  Field,
  'internal_name' | 'field_name' | 'is_active' | 'is_required' | 'is_read_only' | 'default_value'
>

/** The fields that each record needs, and that no column becomes: the service would refuse each row. */
export function missing(
  { mapping, targets }: Pick<Import, 'mapping' | 'targets'>,
  fields: readonly Needed[],
): readonly string[] {
  const told = new Set(targets.filter(({ isRequired }) => isRequired).map(({ field }) => field))
  const own = new Set(mapping.map(({ field }) => field.split('.')[0]!))
  const wholeName = own.has('name') && !fields.some(({ internal_name }) => internal_name === 'name')
  return fields
    .filter(({ is_active, is_required, is_read_only }) => is_active && is_required && !is_read_only)
    .filter(({ internal_name: name }) => told.size === 0 || told.has(name))
    .filter(({ default_value }) => default_value === null || default_value === undefined)
    .filter(({ internal_name: name }) => !own.has(name) && !(wholeName && /^(first|last)_name$/.test(name)))
    .map(({ field_name }) => field_name)
}
