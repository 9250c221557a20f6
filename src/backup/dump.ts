/** Reads a database into the text of a backup: a snapshot, in batches. Knows no engine and no file. */
import { quoted, type Table } from '../db/account-tables.ts'
import { fetchLines } from '../db/cursor.ts'
import type { Database, PoolTransaction } from '../db/open.ts'
import { BackupError, type BackupHeader, headOf, linesWriter, longestLine } from './format.ts'
import { configureSession, readHistory, readTables } from './tables.ts'

export type DumpOptions = {
  readonly now: Date
  readonly serviceVersion: string
  /**
   * Progress callback: number of finished rows, and an estimate of all rows, which is far too low if the
   * database was never analyzed.
   */
  readonly onRows: (done: number, of: number) => void
  /** Prints one line for the operator. */
  readonly say: (line: string) => void
}

/**
 * Reads the database in one transaction with one snapshot, and passes the text to `use`, which must read it
 * to the end. Returns the numbers of tables and rows. Throws a BackupError if there is no database of the
 * service.
 */
export async function dump(
  db: Database,
  options: DumpOptions,
  use: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<{ tables: number; rows: number }> {
  return db.sql.begin(async tx => {
    await configureSession(tx)
    const migrations = await readHistory(tx)
    if (!migrations?.length)
      throw new BackupError(
        'There is nothing to back up: the service has never been started on this database.',
      )
    const { tables, others } = await readTables(tx)
    if (others.length > 0) options.say(`Left out, because they are not the service's: ${others.join(', ')}.`)
    const [server] = await tx.query<{ version: string }[]>(
      "SELECT current_setting('server_version') AS version",
    )
    const header: BackupHeader = {
      made_at: options.now.toISOString(),
      service_version: options.serviceVersion,
      database: `PostgreSQL ${server!.version}${db.engine === 'embedded' ? ', embedded' : ''}`,
      migrations,
      tables: tables.map(({ name, columns }) => ({ name, columns: columns.map(column => column.name) })),
    }
    const accounts = db.isDistributed ? await accountIds(tx) : [null]
    let rows = 0
    const estimate = tables.reduce((sum, table) => sum + table.estimate, 0)
    await use(
      content(tx, header, tables, accounts, count => {
        rows += count
        options.onRows(rows, estimate)
      }),
    )
    return { tables: tables.length, rows }
  }, 'ISOLATION LEVEL REPEATABLE READ READ ONLY')
}

async function* content(
  tx: PoolTransaction,
  header: BackupHeader,
  tables: readonly Table[],
  accounts: readonly (string | null)[],
  onRows: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const writer = linesWriter()
  yield writer.note(headOf(header))
  for (const table of tables) {
    writer.begin(table.name)
    yield writer.note({ table: table.name })
    for (const account of accounts) {
      for await (const rows of fetchRows(tx, table.name, arraysOf(table, account))) {
        yield writer.rows(rows)
        onRows(rows.length)
      }
    }
  }
  yield writer.end()
}

/**
 * The accounts by which a distributed database is read. Only within one is a row's ctid its own, and Citus
 * refuses a cursor over the rows of all if they have more than a gigabyte.
 */
async function accountIds(tx: PoolTransaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }[]>(
    'SELECT a.account_id::text AS id FROM account a ORDER BY a.account_id',
  )
  return rows.map(({ id }) => id)
}

/** SQL of a table's rows as lines, each with its ctid; `account`: only those of this one. */
function arraysOf({ name, columns }: Table, account: string | null): string {
  const values = columns.map(column => `${quoted(column.name)}::text`).join(', ')
  const own = account === null ? '' : ` WHERE account_id = ${account}`
  return `SELECT ctid AS place, to_json(ARRAY[${values}]::text[])::text AS line FROM ${quoted(name)}${own}`
}

/**
 * The lines of a table's rows, as `lines` selects them: the row's ctid as `place`, and its text as `line`.
 * PostgreSQL builds each line. It is passed on as bytes; nothing is decoded here.
 */
export async function* fetchRows(
  tx: PoolTransaction,
  name: string,
  lines: string,
): AsyncGenerator<Uint8Array[]> {
  try {
    yield* fetchLines(tx, { text: lines, values: [] }, place => fetchLong(tx, name, lines, place))
  } catch (error) {
    refuseTooLong(name, error)
  }
}

/**
 * Fetches a row by its ctid, which does not change during the transaction. Throws a BackupError if the row is
 * too long to be restored.
 */
async function fetchLong(
  tx: PoolTransaction,
  table: string,
  lines: string,
  place: string,
): Promise<Uint8Array> {
  const text = `
    SELECT octet_length(line)::text, CASE WHEN octet_length(line) < ${longestLine} THEN line END
    FROM (SELECT * FROM (${lines}) l WHERE place = $1::tid OFFSET 0) r`
  const [found] = await tx.query<[Uint8Array, Uint8Array | null][]>(text, [place], { raw: true })
  const [length, line] = found!
  return line ?? tooLong(table, `${length} bytes of at most ${longestLine}, ctid ${place}`)
}

/** Throws a BackupError if PostgreSQL has no memory to print a row; else rethrows the error. */
function refuseTooLong(table: string, error: unknown): never {
  const { code = '', message } = error as { code?: string; message: string }
  if (/^(53200|54000)$/.test(code)) tooLong(table, `${message}, ${code}`)
  throw error
}

function tooLong(table: string, why: string): never {
  throw new BackupError(
    `A row of ${table} is too long for a backup (${why}): make its values shorter, its metadata above all.`,
  )
}
