/**
 * `dealwright account export` (D67): the rows of one account in a file of JSON lines, for the customer. The
 * first line names the account. Each row is `{"table":…,"row":{…}}`, each table after those that it refers
 * to. The last line has the number of rows and the SHA-256 of all lines before it. Knows no table.
 */
import { quoted, type Table } from '../db/account-tables.ts'
import type { Database, PoolTransaction } from '../db/open.ts'
import { programVersion } from '../version.ts'
import { type CommandOptions, type CommandResult, plain, seconds } from './command.ts'
import { fetchRows } from './dump.ts'
import { requireNewFile, writeFile } from './file.ts'
import { linesWriter } from './format.ts'
import { grouped, size } from './progress.ts'
import { withSource } from './source.ts'
import { configureSession, readTables } from './tables.ts'

export type ExportedAccount = { readonly id: number; readonly name: string }

/** Secrets and their hashes belong to the service alone, and a record's rendered text repeats its columns. */
const leftOut = ['account_id', 'hash', 'secret', 'document']

/** Writes the rows of `find`'s account to the file. Throws the errors of `backup` and of `find`. */
export async function exportAccount(
  { location, file, now, progress, log, signal }: CommandOptions,
  find: (db: Database) => Promise<ExportedAccount>,
): Promise<CommandResult> {
  const startedAt = performance.now()
  requireNewFile(file)
  const read = async (db: Database) => {
    const account = await find(db)
    return db.sql.begin(async tx => {
      await configureSession(tx)
      const { tables } = await readTables(tx)
      const header = {
        format: 'dealwright-account',
        format_version: 1,
        made_at: now.toISOString(),
        service_version: programVersion(),
        account: { id: account.id, name: account.name },
      }
      const writer = linesWriter()
      const rows = () => Object.values(writer.counts).reduce((sum, count) => sum + count, 0)
      const content = linesOf(tx, header, tables, writer, () => progress.show(`${grouped(rows())} rows`))
      const { bytes } = await writeFile(file, content, signal)
      return { account, rows: rows(), bytes }
    }, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')
  }
  const { account, rows, bytes } = await withSource(location, log, signal, read)
    .catch(plain)
    .finally(progress.clear)
  const text = `Exported account ${account.id} "${account.name}", ${grouped(rows)} rows, to ${file} (${size(bytes)}, ${seconds(startedAt)}).`
  return { text, data: { account: account.id, file, rows, bytes } }
}

async function* linesOf(
  tx: PoolTransaction,
  header: { readonly account: ExportedAccount },
  tables: readonly Table[],
  writer: ReturnType<typeof linesWriter>,
  onRows: () => void,
): AsyncGenerator<Uint8Array> {
  yield writer.note(header)
  for (const table of tables) {
    writer.begin(table.name)
    for await (const rows of fetchRows(tx, table.name, objectsOf(table, header.account.id))) {
      yield writer.rows(rows)
      onRows()
    }
  }
  yield writer.end()
}

function objectsOf({ name, columns }: Table, account: number): string {
  const kept = columns.filter(column => !leftOut.includes(column.name))
  const values = kept.map(column => `t.${quoted(column.name)}`).join(', ')
  return `SELECT t.ctid AS place, json_build_object('table', '${name}', 'row', row_to_json(r))::text AS line
    FROM ${quoted(name)} t, LATERAL (SELECT ${values}) r WHERE t.account_id = ${account}`
}
