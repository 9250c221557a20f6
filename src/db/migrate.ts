/**
 * The schema's history: numbered SQL files. Each is applied once, in order. Owns the table schema_migration.
 * Knows nothing of what the files do. Older processes go on meanwhile, and afterwards (D177).
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { advisoryLock } from './advisory-lock.ts'
import { distributing, distributionOf } from './distribution.ts'
import type { Database, Log, PoolTransaction } from './open.ts'
import { StartupError } from './startup-error.ts'

export type Migration = {
  readonly version: number
  readonly name: string
  readonly text: string
  readonly checksum: string
  /** the indexes that a server builds while writes go on; none for any other file */
  readonly indexes: readonly ConcurrentIndex[]
}
type ConcurrentIndex = { readonly name: string; readonly statement: string }
type Applied = { readonly version: string; readonly name: string; readonly checksum: string }

const ownMigrations = join(import.meta.dirname, 'migrations')

export const migrationTable = 'schema_migration'

/** Key of the advisory lock: any number that nothing else in the database uses. */
const lock = 7_201_553
/**
 * How long a file waits for a lock, behind which all requests for the table wait. It is more than the second
 * after which PostgreSQL ends an autovacuum that others wait for, and less than requests wait (server.ts).
 */
const tableWaitMs = 2000
/** Requests are answered for that long before a file is tried again. */
const tryAgainMs = 3000

type MigratedDatabase = Pick<Database, 'sql' | 'engine' | 'isDistributed' | 'queryWithoutTimeLimit'>
type MigrateOptions = { readonly directory?: string; readonly log?: Log }
type Tx = Pick<PoolTransaction, 'query'>
type Apply = (tx: Tx, file: Migration) => Promise<unknown>

/**
 * Applies the pending files of `directory` (0001-name.sql, 0002-…), each in a transaction together with its
 * row of history. Several processes may do so at once: one does the work, and the others find it done.
 * Returns the files that this call applied, and the version reached. Throws a StartupError, with nothing
 * changed, when history and files differ. An error of a file itself is thrown unchanged.
 *
 * A file whose statements are all CREATE INDEX CONCURRENTLY is carried out beside the transaction on a
 * server, so that writes go on. On the embedded engine nobody writes meanwhile. Any other file gives way to
 * requests while it has to wait for a lock. `log` gets a line when another process takes long.
 */
export async function migrate(
  db: MigratedDatabase,
  { directory = ownMigrations, log = () => {} }: MigrateOptions = {},
): Promise<{ applied: number[]; version: number }> {
  const files = readMigrations(directory)
  const applied: number[] = []
  let isLate = false
  // One iteration more than there are files: the last one finds nothing to do.
  for (;;) {
    try {
      const version = await db.sql.begin(async tx => {
        await tx.query(`SET LOCAL lock_timeout = ${tableWaitMs}`)
        return applyNext(tx, files, applierOf(db), log)
      })
      if (version === undefined) return { applied, version: files.length }
      applied.push(version)
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error
      if (!isLate)
        log('A migration needs a table that others use, such as a backup; it tries again and again.')
      isLate = true
      await delay(tryAgainMs)
    }
  }
}

/**
 * Keeps every process from migrating until the transaction ends. So the schema can't change meanwhile. Logs a
 * wait of more than two seconds.
 */
export function lockSchema(tx: Tx, log: Log = () => {}): Promise<void> {
  return advisoryLock(tx, lock, () =>
    log('Another process upgrades or restores the database; this one waits for it.'),
  )
}

/**
 * Migrates in the caller's transaction, up to `version` (default: all). The transaction applies all of them
 * or none.
 */
export async function migrateWithin(tx: Tx, version?: number): Promise<void> {
  const files = readMigrations().slice(0, version)
  while ((await applyNext(tx, files)) !== undefined);
}

function applierOf({ engine, isDistributed, queryWithoutTimeLimit: query }: MigratedDatabase): Apply {
  if (engine === 'embedded') return applyWithin
  return async (tx, file) => {
    if (file.indexes.length === 0) return isDistributed ? applyDistributed(tx, file) : applyWithin(tx, file)
    // The transaction does nothing meanwhile but hold the lock.
    await tx.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    for (const { name, statement } of file.indexes) {
      // An interrupted build leaves an index that is not valid.
      await query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
      await query(statement)
    }
  }
}

function applyWithin(tx: Tx, { indexes, text }: Migration): Promise<unknown> {
  const within = indexes.map(({ statement }) => statement.replace(' CONCURRENTLY ', ' ')).join(';')
  return tx.query(within || text)
}

/** A distributed database takes one statement after the other, and a new table is distributed at once. */
async function applyDistributed(tx: Tx, { text }: Migration): Promise<void> {
  const { distributed } = await distributionOf(tx.query, 'The server')
  for (const statement of statementsOf(text)) {
    await tx.query(statement, [])
    const [, table] = /^CREATE TABLE "?(\w+)"?/.exec(statement) ?? []
    if (table) await tx.query(...distributing(table, distributed[0]!))
  }
}

/** The statements of a migration, without comments. Semicolons in texts and in bodies end none. */
export function statementsOf(text: string): string[] {
  const pieces = withoutComments(text).match(/(?:\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|[^;])+/g) ?? []
  return pieces.map(statement => statement.trim()).filter(Boolean)
}

/** Checks and applies under one lock, so that the check still holds. Undefined when all are applied. */
async function applyNext(
  tx: Tx,
  files: readonly Migration[],
  apply: Apply = applyWithin,
  log?: Log,
): Promise<number | undefined> {
  await lockSchema(tx, log)
  // Creating an index of a large table may take any time.
  await tx.query('SET LOCAL statement_timeout = 0')
  await tx.query(`CREATE TABLE IF NOT EXISTS ${migrationTable} (
    version int PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`)
  const history = await tx.query<Applied[]>(
    `SELECT version, name, checksum FROM ${migrationTable} ORDER BY version`,
  )
  compare(history, files)
  const next = files[history.length]
  if (!next) return undefined
  await apply(tx, next)
  await tx.query(`INSERT INTO ${migrationTable} (version, name, checksum) VALUES ($1, $2, $3)`, [
    `${next.version}`,
    next.name,
    next.checksum,
  ])
  return next.version
}

/**
 * The number of migrations applied to the database, the number that this program has, and those of them that
 * a start would apply. Changes nothing. Throws a StartupError when history and files differ.
 */
export async function schemaVersion(db: Pick<Database, 'query'>): Promise<{
  readonly version: number
  readonly known: number
  readonly pending: readonly Migration[]
}> {
  const files = readMigrations()
  const [there] = await db.query(`SELECT (to_regclass('${migrationTable}') IS NOT NULL)::text AS there`)
  if (there!.there !== 'true') return { version: 0, known: files.length, pending: files }
  const history = await db.query(
    `SELECT m.version::text AS version, m.name, m.checksum FROM ${migrationTable} m ORDER BY m.version`,
  )
  compare(history as readonly Applied[], files)
  const version = history.length
  return { version, known: files.length, pending: files.slice(version) }
}

function compare(history: readonly Applied[], files: readonly Migration[]): void {
  for (const [index, row] of history.entries()) {
    const file = files[index]
    const version = Number(row.version)
    if (version !== index + 1)
      throw new StartupError(
        `The database's schema lacks version ${index + 1} but has ${version}: restore a backup.`,
      )
    if (!file) {
      const newest = history.at(-1)!.version
      throw new StartupError(
        `The database's schema is version ${newest} and this program knows only ${files.length}: run the newer program, or ` +
          'restore the backup made before the upgrade into an empty database.',
      )
    }
    if (file.checksum !== row.checksum || file.name !== row.name) {
      throw new StartupError(
        `The database was given migration ${nameOf(row)}, which is not the ${nameOf(file)} of this program: ` +
          'an applied migration was edited. Put the file back and write a new one.',
      )
    }
  }
}

/** The files of `directory` in order. Throws a StartupError for a wrong file name. */
export function readMigrations(directory: string = ownMigrations): Migration[] {
  const names = readdirSync(directory)
    .filter(name => name.endsWith('.sql'))
    .sort()
  return names.map((file, index) => {
    const match = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file)
    if (!match) throw new StartupError(`${join(directory, file)} is not named like 0001-name.sql`)
    const version = Number(match[1])
    if (version !== index + 1)
      throw new StartupError(`${join(directory, file)} should have the number ${index + 1}`)
    // A checkout that changes line endings does not change the migration.
    const text = readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n')
    const checksum = createHash('sha256').update(text).digest('hex')
    return { version, name: match[2]!, text, checksum, indexes: indexesOf(join(directory, file), text) }
  })
}

/** A server takes the statements outside of transactions only, where they can't be undone with others. */
function indexesOf(file: string, text: string): ConcurrentIndex[] {
  const statements = statementsOf(text)
  if (!statements.some(statement => /\bCONCURRENTLY\b/.test(statement))) return []
  return statements.map(statement => {
    const [, name] = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON /.exec(statement) ?? []
    if (name) return { name, statement }
    throw new StartupError(
      `${file} has CONCURRENTLY, so each of its statements must be CREATE INDEX CONCURRENTLY name ON …`,
    )
  })
}

export function withoutComments(text: string): string {
  return text.replaceAll(/--.*$/gm, '')
}

/** The name of a migration, as of its file. */
export function nameOf({ version, name }: { version: string | number; name: string }): string {
  return `${String(version).padStart(4, '0')}-${name}`
}
