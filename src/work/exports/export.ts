/**
 * An export (D81): a snapshot of all records of a list, as a stream. It is produced at full speed, so nobody
 * waits for a slow reader. On a server the records come from a transaction with one snapshot, and are sent
 * meanwhile. The embedded engine has one connection: there the export is complete before it is sent. Knows no
 * HTTP.
 */
import type { Readable } from 'node:stream'
import type { Database } from '../../db/open.ts'
import type { Caller } from '../../rights/visibility.ts'
import type { ExportRequest } from './query.ts'
import { streamed } from './snapshot.ts'
import type { SpoolQuota } from './spool-file.ts'
import { spooled } from './spooled.ts'

export type ExportResult = {
  readonly content: Readable
  /** number of bytes; null: not known yet */
  readonly bytes: number | null
  /** Resolves when nothing of the database is held any more: the export is complete, or has failed. */
  readonly completed: Promise<void>
}

export type ExportContext = {
  readonly caller: Caller
  readonly request: ExportRequest
  /** Called with the number of records read so far. */
  readonly onRecords?: (count: number) => void
  /** aborts it, and frees its resources */
  readonly ended: AbortSignal
  readonly quota: SpoolQuota
}

/**
 * Begins an export: refusals are thrown before it resolves, later failures destroy the stream. Destroying the
 * stream frees its resources, too, and is required unless it is read to its end.
 */
export async function openExport(db: Database, asked: ExportContext): Promise<ExportResult> {
  return db.snapshot ? streamed(db.snapshot, asked) : spooled(db, asked)
}
