/** What counts as no value where one is required (D6). */
import { isObject, type Json } from '../json.ts'

/** Blanks, and characters that nobody sees: controls, joiners, fillers. */
const unseen = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u

/** What a person calls empty: null, a text of which nothing is seen, or a list without entries. */
export function isBlank(value: Json): boolean {
  return (
    value === null ||
    (typeof value === 'string' && unseen.test(value)) ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** Whether a stored value has nothing in it: it is blank, or all of its parts are. */
export function isHollow(value: Json): boolean {
  if (isBlank(value)) return true
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  return parts.length > 0 && parts.every(isHollow)
}
