/** The fields by which the rows of a table can be grouped (D171). */
import type { Field } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import type { Grouping } from './grouping.ts'

/** True if records can be grouped by a field: it holds one id with a name, or a date. */
export function isGroupable(field: Field): boolean {
  const { groups } = kindOf(field)
  return groups === 'month' || (groups === 'value' && field.is_expandable)
}

/** The grouping that an address names; null: none, or one by an unknown field. */
export function groupingOf(name: string | undefined, fields: readonly Field[]): Grouping | null {
  const field = fields.find(({ internal_name }) => internal_name === name)
  if (!field || !isGroupable(field)) return null
  const isMonth = kindOf(field).groups === 'month'
  return { field, isMonth, by: isMonth ? `${field.internal_name}:month` : field.internal_name }
}
