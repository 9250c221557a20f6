/** Reads one record. */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { ask } from '../sql.ts'
import { shown } from './document.ts'
import { type Queryable, recordStatement } from './store.ts'

/**
 * A record as JSON text, with its version. Throws `record_not_found` for an unknown, deleted or another
 * account's id (D3).
 */
export async function readRecord(
  db: Queryable,
  fields: ResourceFields,
  account: number,
  id: number,
): Promise<{ version: number; record: string }> {
  const [row] = await ask(db, recordStatement(fields, String(account), String(id)))
  if (!row) throw recordNotFound(fields, id)
  return { version: Number(row.version), record: shown(fields, row.record!) }
}

export function recordNotFound(fields: ResourceFields, id: number): Refusal {
  return new Refusal('record_not_found', `There is no ${fields.resource.name} ${id}.`)
}

/** A record at the beginning of a sentence. */
export function nameOf({ resource }: ResourceFields, id: number): string {
  return `The ${resource.name} ${id}`
}
