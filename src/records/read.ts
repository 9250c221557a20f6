/** Reads one record. */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Viewer } from '../rights/visibility.ts'
import { ask } from '../sql.ts'
import { shown } from './rendered-record.ts'
import { type BytesReader, type Queryable, recordStatement } from './store.ts'

/** A record as JSON text, with its version, and whether a value may have moved without one (D89). */
export type Read<Text = string> = {
  readonly version: number
  readonly record: Text
  readonly isMoved: boolean
}

/**
 * Reads a record. Throws `record_not_found` for an unknown, deleted or another account's id (D3), and for
 * that of a record that the viewer does not see (D63).
 */
export async function readRecord(
  db: Queryable,
  fields: ResourceFields,
  viewer: Viewer,
  id: number,
): Promise<Read> {
  const [row] = await ask(db, recordStatement(fields, viewer, String(id)))
  if (!row) throw recordNotFound(fields, id)
  return readOf(fields, row)
}

/** The same of a record that is shown as it is stored: the bytes that PostgreSQL sent, passed on unread. */
export async function readRecordBytes(
  db: BytesReader,
  fields: ResourceFields,
  viewer: Viewer,
  id: number,
): Promise<Read<Buffer>> {
  const { text, values } = recordStatement(fields, viewer, String(id))
  const [row] = await db.queryBytes(text, values)
  if (!row) throw recordNotFound(fields, id)
  const [version, record, isMoved] = row
  return { version: Number(version!.toString()), record: record!, isMoved: isMoved?.toString() === 'true' }
}

/** The record of a row that has what recordStatement answers. */
export function readOf(fields: ResourceFields, row: Record<string, string | null>): Read {
  const { version, record, is_moved } = row
  return { version: Number(version), record: shown(fields, record!), isMoved: is_moved === 'true' }
}

export function recordNotFound(fields: ResourceFields, id: number): Refusal {
  return new Refusal('record_not_found', `There is no ${fields.resource.name} ${id}.`)
}

/** The refusal of a change to a record that the caller sees and may not change (D63). */
export function mayNotChange(fields: ResourceFields, id: number): Refusal {
  return new Refusal(
    'forbidden',
    `Your role lets you see the ${fields.resource.name} ${id}, but not change it.`,
  )
}

/** A record at the beginning of a sentence. */
export function nameOf({ resource }: ResourceFields, id: number): string {
  return `The ${resource.name} ${id}`
}
