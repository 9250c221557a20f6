/** Which fields a role may hide from its users, or lock: as the service judges (D64). Pure. */
import type { Field } from '../../api/api.ts'

/** Records are known by these, and shown by the others. */
const ofEveryRecord = ['id', 'version', 'deleted_at', 'deleted_by']
const shownAs = ['title', 'name', 'subject', 'first_name', 'last_name']

type Judged = Pick<Field, 'internal_name' | 'is_required' | 'is_read_only' | 'default_value'>

/** `mayCreate`: whoever creates records must give what is required. */
export function mayHide(field: Judged, mayCreate: boolean): boolean {
  return ![...ofEveryRecord, ...shownAs].includes(field.internal_name) && !isAsked(field, mayCreate)
}

/** What nobody can write needs no lock. */
export function mayLock(field: Judged, mayCreate: boolean): boolean {
  return !field.is_read_only && !isAsked(field, mayCreate)
}

function isAsked({ is_required, default_value }: Judged, mayCreate: boolean): boolean {
  return mayCreate && is_required && default_value === null
}
