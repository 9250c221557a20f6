/**
 * Loads the rows of a backup into an empty database. One transaction makes the schema of the backup and loads
 * all rows, or nothing. Knows no engine and no compression; format.ts checks that the backup is complete.
 */
import { quoted, type Table } from '../db/account-tables.ts'
import { lockSchema, migrateWithin, migrationTable, readMigrations } from '../db/migrate.ts'
import type { Database, PoolTransaction } from '../db/open.ts'
import { arrayLiteral } from '../sql.ts'
import {
  BackupError,
  type BackupHeader,
  type BackupPart,
  type BackupTable,
  damaged,
  type RowCounts,
  valuesOf,
} from './format.ts'
import { configureSession, readTables } from './tables.ts'

/** The contents of a backup; known after reading it to its end. */
export type Contents = { readonly header: BackupHeader; readonly rows: RowCounts; readonly total: number }

const batchBytes = 1024 * 1024
const mostRows = 5000
/** The embedded engine has no checkpointer process that would truncate its write-ahead log. */
const checkpointBytes = 256 * 1024 * 1024

/** Reads a backup to its end. Throws a BackupError if it is damaged, or has migrations unknown here. */
export async function examine(parts: AsyncIterable<BackupPart>): Promise<Contents> {
  let header: BackupHeader | undefined
  let rows: RowCounts = {}
  for await (const part of parts) {
    if (part.kind === 'header') {
      header = part.header
      requireKnown(header)
    }
    if (part.kind === 'end') rows = part.rows
  }
  return { header: header!, rows, total: Object.values(rows).reduce((sum, count) => sum + count, 0) }
}

function requireKnown({ migrations, service_version }: BackupHeader): void {
  const files = readMigrations()
  if (migrations.length > files.length)
    throw new BackupError(
      `The backup was made by a newer service (${service_version}, schema version ${migrations.length}; this one knows ${files.length}): ` +
        'restore it with that version or a later one.',
    )
  for (const [index, { version, name, checksum }] of migrations.entries()) {
    const file = files[index]!
    if (version === file.version && name === file.name && checksum === file.checksum) continue
    throw new BackupError(
      `The backup's schema had migration ${version} "${name}", which is not this program's ${file.version} "${file.name}": ` +
        'another program made it; restore it with that program.',
    )
  }
}

/**
 * Makes the backup's schema, loads its rows, and migrates both to this program's schema. Throws a
 * BackupError, with the database unchanged, if the database is not empty, the backup differs from `contents`,
 * or its rows don't fit. Rethrows other errors of the database. `onRows` gets the number of loaded rows.
 */
export async function load(
  db: Database,
  parts: AsyncIterable<BackupPart>,
  { header, rows: expected }: Contents,
  onRows: (done: number) => void,
): Promise<void> {
  await db.sql.begin(async tx => {
    await configureSession(tx)
    // A service that starts at this moment waits for this transaction, or has started before it.
    await lockSchema(tx)
    await requireEmpty(tx, header)
    await migrateWithin(tx, header.migrations.length)
    const { tables } = await readTables(tx)
    requireSame(header, tables)
    // The backup has the rows that migrations inserted, unless they were deleted since.
    await tx.query(`TRUNCATE ${tables.map(table => quoted(table.name)).join(', ')}`)
    const makeIndexes = await dropIndexes(tx, !header.migrations.some(({ name }) => name === 'one-folding'))
    let done = 0
    let bytes = 0
    for await (const batch of batches(parts)) {
      const { table, rows, line } = batch
      const lines = rows.length === 1 ? `line ${line}` : `lines ${line} to ${line + rows.length - 1}`
      await fitting(`${table.name}, ${lines}`, () =>
        insert(tx, tables.find(({ name }) => name === table.name)!, batch),
      )
      done += rows.length
      bytes += batch.bytes
      onRows(done)
      if (db.engine === 'postgres' || bytes < checkpointBytes) continue
      await tx.query('CHECKPOINT')
      bytes = 0
    }
    await fitting('its indexes', makeIndexes)
    for (const { name } of tables) {
      const [row] = await tx.query<{ count: string }[]>(`SELECT count(*)::text AS count FROM ${quoted(name)}`)
      if (Number(row!.count) !== expected[name])
        throw damaged(`${name} has ${row!.count} rows instead of ${expected[name]}`)
    }
    await fitting('the schema of this service', () => migrateWithin(tx))
  })
}

/**
 * Throws a BackupError with `where`, and without values, for rows of the backup that PostgreSQL refuses:
 * invalid data (22), a broken constraint (23), or an exceeded limit (54).
 */
async function fitting(where: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const {
      code = '',
      column_name: column,
      constraint_name: constraint,
    } = error as { [name: string]: string | undefined }
    if (!/^(22|23|54)...$/.test(code)) throw error
    const what = [code, column && `column ${column}`, constraint && `constraint ${constraint}`]
      .filter(Boolean)
      .join(', ')
    const message = `The backup does not fit: ${where} (${what}); nothing was restored. Use another one.`
    throw new BackupError(message, { cause: error })
  }
}

/** Throws a BackupError if the database has a table of the service, or something else with such a name. */
async function requireEmpty(tx: PoolTransaction, { tables }: BackupHeader): Promise<void> {
  const names = [migrationTable, ...tables.map(table => table.name)]
  const [found] = await tx.query<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relname IN (SELECT json_array_elements_text($1::json)) LIMIT 1`,
    [JSON.stringify(names)],
  )
  if (found)
    throw new BackupError(
      `The database is not empty (it has a table ${found.name}); restore into an empty one.`,
    )
}

function requireSame({ tables: backedUp }: BackupHeader, tables: readonly Table[]): void {
  const known = new Map(
    tables.map(({ name, columns }) => [name, new Set(columns.map(column => column.name))]),
  )
  const name = (table: string, column?: string) => `${table}${column ? `.${column}` : ''}`
  const missing = backedUp.flatMap(({ name: table, columns }) =>
    known.has(table)
      ? columns.filter(column => !known.get(table)!.has(column)).map(column => name(table, column))
      : [name(table)],
  )
  const unfilled = tables
    .filter(table => !backedUp.some(({ name }) => name === table.name))
    .map(table => table.name)
  const differing = [...missing, ...unfilled]
  if (differing.length === 0) return
  const some =
    differing.slice(0, 5).join(', ') + (differing.length > 5 ? ` and ${differing.length - 5} more` : '')
  throw new BackupError(
    `The backup does not fit the schema of its own version (${some}): its database was changed by hand. Nothing was restored. Undo the changes there and make another backup.`,
  )
}

/**
 * Drops the indexes that are not constraints, because rows load several times as fast without them. Returns a
 * function that recreates them. Before the migration "one-folding" (D126), databases differed in case
 * folding. If names of a backup are not unique here, their index is left out: that migration renames them and
 * makes another index.
 */
async function dropIndexes(tx: PoolTransaction, isBeforeFolding: boolean): Promise<() => Promise<void>> {
  const rows = await tx.query<{ name: string; definition: string; statistics: string }[]>(`
    SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition,
      (SELECT coalesce(json_agg(format(
         'ALTER INDEX %I ALTER COLUMN %s SET STATISTICS %s', c.relname, a.attnum, a.attstattarget)), '[]')
       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attstattarget > 0)::text AS statistics
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema()
      AND NOT EXISTS (SELECT 1 FROM pg_constraint x WHERE x.conindid = i.indexrelid)
    ORDER BY c.relname`)
  for (const { name } of rows) await tx.query(`DROP INDEX ${quoted(name)}`)
  return async () => {
    for (const { definition, statistics } of rows) {
      await tx.query(
        isBeforeFolding
          ? `DO $make$ BEGIN ${definition}; EXCEPTION WHEN unique_violation THEN NULL; END $make$`
          : definition,
      )
      for (const alter of JSON.parse(statistics) as string[]) await tx.query(alter)
    }
  }
}

/** `line`: number of the first row's line */
type Batch = {
  readonly table: BackupTable
  readonly line: number
  readonly rows: readonly Uint8Array[]
  readonly bytes: number
}

/** The rows in batches that fit in memory, each of one table. */
async function* batches(parts: AsyncIterable<BackupPart>): AsyncGenerator<Batch> {
  let batch: { table: BackupTable; line: number; rows: Uint8Array[]; bytes: number } | undefined
  for await (const part of parts) {
    if (part.kind !== 'rows') continue
    for (const [index, row] of part.rows.entries()) {
      const isFull = batch && (batch.bytes > batchBytes || batch.rows.length === mostRows)
      if (batch && (isFull || batch.table !== part.table)) {
        yield batch
        batch = undefined
      }
      batch ??= { table: part.table, line: part.line + index, rows: [], bytes: 0 }
      batch.rows.push(row)
      batch.bytes += row.length
    }
  }
  if (batch) yield batch
}

/** One parameter per column: the texts of all rows, as an array literal. */
async function insert(tx: PoolTransaction, { columns }: Table, { table, rows }: Batch): Promise<void> {
  const texts = table.columns.map(() => [] as (string | null)[])
  for (const row of rows) {
    for (const [index, value] of valuesOf(row, table).entries()) texts[index]!.push(value)
  }
  const typeOf = new Map(columns.map(({ name, type }) => [name, type]))
  const values = table.columns.map((name, index) => `v.c${index}::${typeOf.get(name)}`)
  const parameters = table.columns.map((_, index) => `$${index + 1}::text[]`)
  const names = table.columns.map((_, index) => `c${index}`)
  await tx.query(
    `INSERT INTO ${quoted(table.name)} (${table.columns.map(quoted).join(', ')}) SELECT ${values.join(', ')}
     FROM unnest(${parameters.join(', ')}) v (${names.join(', ')})`,
    texts.map(arrayLiteral),
  )
}
