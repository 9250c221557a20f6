/**
 * An export (D81): all records that a list would find, of one moment, as a stream. It is made at full speed,
 * so nobody waits for a slow reader. On a server the records come from a transaction with one snapshot, and
 * are sent meanwhile. The embedded engine has one connection: there the export is made before it is sent.
 * Knows no HTTP.
 */
import type { Readable } from 'node:stream'
import type { Database } from '../db/open.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Viewer } from '../rights/visibility.ts'
import type { ExportRequest } from './query.ts'
import { streamed } from './snapshot.ts'
import type { SpoolQuota } from './spool-file.ts'
import { spooled } from './spooled.ts'

export type Exported = {
  readonly content: Readable
  /** how many bytes there will be; null: that is not known yet */
  readonly bytes: number | null
  /** Resolves when nothing of the database is held any more: it is whole, or has failed. */
  readonly made: Promise<void>
}

/** What is exported, and for whom. */
export type Asked = {
  readonly fields: ResourceFields
  readonly viewer: Viewer
  readonly request: ExportRequest
  /** Is told how many records have been read. */
  readonly onRecords?: (count: number) => void
}

/** What an export needs of a database. */
export type ExportDatabase = Pick<Database, 'query' | 'inTurn' | 'snapshot' | 'whileUnwritten'>

/**
 * Begins an export: what can be refused is refused before it resolves. What fails later destroys the stream.
 * `ended` ends it, and frees what it holds; so does destroying the stream, which must be done unless it is
 * read to its end.
 */
export async function openExport(
  db: ExportDatabase,
  asked: Asked,
  ended: AbortSignal,
  quota: SpoolQuota,
): Promise<Exported> {
  return db.snapshot ? streamed(db.snapshot, asked, ended, quota) : spooled(db, asked, ended, quota)
}
