/** Blank values: they count as missing if a value is required (D6). */
import { isObject, type Json } from '../json.ts'

/** Blanks, and invisible characters: controls, joiners, fillers. */
const unseen = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u

/** True for null, a text without a visible character, or an empty list. */
export function isBlank(value: Json): boolean {
  return (
    value === null ||
    (typeof value === 'string' && unseen.test(value)) ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** True if a stored value is blank, or all of its parts are. */
export function isHollow(value: Json): boolean {
  if (isBlank(value)) return true
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : null
  return parts?.every(isHollow) ?? false
}
