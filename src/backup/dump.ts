/**
 * A database, read into a backup's text: everything as it was at one moment, in batches that fit in memory. Knows no engine and no file.
 */
import type { Database, Transaction } from '../db/open.ts'
import { BackupError } from './backup-error.ts'
import { type BackupHeader, backupWriter } from './format.ts'
import { quoted, readHistory, readTables, settle, type Table } from './tables.ts'

export type DumpOptions = {
  readonly now: Date
  readonly serviceVersion: string
  /** Hears how many rows are done, of about how many; far too few where the database has not been analyzed. */
  readonly onRows: (done: number, of: number) => void
  /** Takes one line for the operator. */
  readonly say: (line: string) => void
}

/** Rows are fetched by as many as have about this many bytes together. */
const batchBytes = 1024 * 1024
const mostRows = 5000

/**
 * Reads the database in one transaction of one snapshot and gives its text to `use`, which must consume it to the end. Returns how many
 * tables and rows there were. Throws a BackupError where there is no database of the service.
 */
export async function dump(
  db: Database,
  options: DumpOptions,
  use: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<{ tables: number; rows: number }> {
  return db.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async tx => {
    await settle(tx)
    const migrations = await readHistory(tx)
    if (!migrations?.length)
      throw new BackupError('There is nothing to back up: the service has never been started on this database.')
    const { tables, others } = await readTables(tx)
    if (others.length > 0) options.say(`Left out, as they are not the service's: ${others.join(', ')}.`)
    const [server] = await tx.unsafe<{ version: string }[]>("SELECT current_setting('server_version') AS version")
    const header: BackupHeader = {
      made_at: options.now.toISOString(),
      service_version: options.serviceVersion,
      database: `PostgreSQL ${server!.version}${db.engine === 'embedded' ? ', embedded' : ''}`,
      migrations,
      tables: tables.map(({ name, columns }) => ({ name, columns: columns.map(column => column.name) })),
    }
    let rows = 0
    const estimate = tables.reduce((sum, table) => sum + table.estimate, 0)
    await use(
      content(tx, header, tables, count => {
        rows += count
        options.onRows(rows, estimate)
      }),
    )
    return { tables: tables.length, rows }
  })
}

async function* content(
  tx: Transaction,
  header: BackupHeader,
  tables: readonly Table[],
  onRows: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const writer = backupWriter()
  yield writer.header(header)
  for (const table of tables) {
    yield writer.table(table.name)
    for await (const rows of fetchRows(tx, table)) {
      yield writer.rows(rows)
      onRows(rows.length)
    }
  }
  yield writer.end()
}

/** PostgreSQL makes each row's line itself, and it is passed on as it comes: nothing is decoded here. */
async function* fetchRows(tx: Transaction, { name, columns }: Table): AsyncGenerator<Uint8Array[]> {
  const values = columns.map(column => `${quoted(column.name)}::text`).join(', ')
  await tx.unsafe(`DECLARE backup_rows NO SCROLL CURSOR FOR SELECT to_json(ARRAY[${values}]::text[])::text FROM ${quoted(name)}`)
  const fetch = (count: number) => tx.unsafe(`FETCH ${count} FROM backup_rows`).raw() as unknown as Promise<[Uint8Array][]>
  for (let count = 100; ; ) {
    const rows = (await fetch(count)).map(([line]) => line)
    if (rows.length > 0) yield rows
    if (rows.length < count) break
    const bytes = rows.reduce((sum, line) => sum + line.length, 0)
    count = Math.max(1, Math.min(mostRows, Math.floor((batchBytes * rows.length) / bytes)))
  }
  await tx.unsafe('CLOSE backup_rows')
}
