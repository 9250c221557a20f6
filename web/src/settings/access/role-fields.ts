/** The fields that a role may hide or lock, by the rules of the service (D64). Pure. */
import type { Field } from '../../api/api.ts'

/** Identifying fields of every record; the others are its name. */
const ofEveryRecord = ['id', 'version', 'deleted_at', 'deleted_by']
const shownAs = ['title', 'name', 'subject', 'first_name', 'last_name']

type RoleField = Pick<Field, 'internal_name' | 'is_required' | 'is_read_only' | 'default_value'>

/** `mayCreate`: users who create records need the required fields. */
export function mayHide(field: RoleField, mayCreate: boolean): boolean {
  return ![...ofEveryRecord, ...shownAs].includes(field.internal_name) && !isAsked(field, mayCreate)
}

/** Read-only fields need no lock. */
export function mayLock(field: RoleField, mayCreate: boolean): boolean {
  return !field.is_read_only && !isAsked(field, mayCreate)
}

function isAsked({ is_required, default_value }: RoleField, mayCreate: boolean): boolean {
  return mayCreate && is_required && default_value === null
}
