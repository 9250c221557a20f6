/** Reads one record. */
import { Refusal } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Caller } from '../rights/visibility.ts'
import { ask } from '../sql.ts'
import { shown } from './rendered-record.ts'
import { type RawReader, recordStatement } from './store.ts'
import type { ReadWork, Work } from './work.ts'

/**
 * A record as JSON text, its version, and `isMoved`: true if a value may have changed without a new version
 * (D89).
 */
export type Read<Text = string> = {
  readonly version: number
  readonly record: Text
  readonly isMoved: boolean
}

/**
 * Reads a record. Throws `record_not_found` if the id is unknown, deleted or of another account (D3), or if
 * the caller does not see the record (D63).
 */
export async function readRecord(work: ReadWork, id: number): Promise<Read> {
  const [row] = await ask(work.db, recordStatement(work, String(id)))
  if (!row) throw recordNotFound(work.schema, id)
  return readOf(work.schema, row)
}

/**
 * Like readRecord, for a record that is shown as stored: passes on the bytes that PostgreSQL sent, unparsed.
 */
export async function readRecordBytes(work: Work<RawReader, Caller>, id: number): Promise<Read<Buffer>> {
  const { text, values } = recordStatement(work, String(id))
  const [row] = await work.db.queryBytes(text, values)
  if (!row) throw recordNotFound(work.schema, id)
  const [version, record, isMoved] = row
  return { version: Number(version!.toString()), record: record!, isMoved: isMoved?.toString() === 'true' }
}

export function readOf(schema: ResourceSchema, row: Record<string, string | null>): Read {
  const { version, record, is_moved } = row
  return { version: Number(version), record: shown(schema, record!), isMoved: is_moved === 'true' }
}

export function recordNotFound(schema: ResourceSchema, id: number): Refusal {
  return new Refusal('record_not_found', `There is no ${schema.resource.name} ${id}.`)
}

/** The refusal of a change to a record that the caller sees and may not change (D63). */
export function mayNotChange(schema: ResourceSchema, id: number): Refusal {
  const message = `Your role lets you see the ${schema.resource.name} ${id}, but not change it.`
  return new Refusal('forbidden', message)
}

/** The name of a record at the beginning of a sentence. */
export function nameOf({ resource }: ResourceSchema, id: number): string {
  return `The ${resource.name} ${id}`
}
