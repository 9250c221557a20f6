/** The name of a referenced record. */
import type { Field, Named } from '../../api/api.ts'
import type { NamesOf } from '../kind.ts'
import { useName } from './find-records.ts'

export const namedBy = (names: NamesOf, id: unknown): Named | undefined =>
  (Array.isArray(names) ? (names as readonly Named[]) : names ? [names as Named] : []).find(
    one => one.id === id,
  )

export const sourceOf = (field: Field): string => field.related_field?.source ?? ''

/** The name of the record that a value points to. */
export function useReferenceName(field: Field, value: unknown, names: NamesOf): string {
  const id = typeof value === 'number' ? value : null
  const name = useName(sourceOf(field), id, namedBy(names, id))
  return id === null ? String(value ?? '') : (name ?? '')
}
