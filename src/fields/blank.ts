/** What counts as no value where one is required (D6). */
import { isObject, type Json } from '../json.ts'

/** What a person calls empty: null, blanks, or a list without entries. */
export function isBlank(value: Json): boolean {
  return (
    value === null ||
    (typeof value === 'string' && value.trim() === '') ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** Whether a stored value has nothing in it: it is blank, or all of its parts are. */
export function isHollow(value: Json): boolean {
  if (isBlank(value)) return true
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  return parts.length > 0 && parts.every(isHollow)
}
