/**
 * An export (D81): all records that a list would find, of one moment, as a stream. On a server they come from
 * a transaction with one snapshot, as fast as they are read. The embedded engine has one connection: there
 * they are first put aside in a file, so that nobody waits for a slow reader. Knows no HTTP.
 */
import type { Readable } from 'node:stream'
import type { Database } from '../db/open.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Viewer } from '../rights/visibility.ts'
import { putAside } from './put-aside.ts'
import type { ExportRequest } from './query.ts'
import { streamed } from './snapshot.ts'

export type Exported = {
  readonly content: Readable
  /** how many bytes there will be; null: that is not known yet */
  readonly bytes: number | null
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
export async function openExport(db: ExportDatabase, asked: Asked, ended: AbortSignal): Promise<Exported> {
  return db.snapshot
    ? { content: await streamed(db.snapshot, asked, ended), bytes: null }
    : putAside(db, asked, ended)
}
