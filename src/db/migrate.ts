/**
 * The schema's history: numbered SQL files. Each is applied once, in order. Owns the table schema_migration.
 * Knows nothing of what the files do.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, PoolTransaction } from './open.ts'
import { StartupError } from './startup-error.ts'

export type Migration = {
  readonly version: number
  readonly name: string
  readonly text: string
  readonly checksum: string
}
type Applied = { readonly version: string; readonly name: string; readonly checksum: string }

const ownMigrations = join(import.meta.dirname, 'migrations')

/** Table of the applied migrations. */
export const migrationTable = 'schema_migration'

/** Key of the advisory lock: any number that nothing else in the database uses. */
const lock = 7_201_553

/**
 * Applies the pending files of `directory` (0001-name.sql, 0002-…), each in a transaction together with its
 * row of history. Several processes may do so at once: one does the work, and the others find it done.
 * Returns the files that this call applied, and the version reached. Throws a StartupError, with nothing
 * changed, when history and files differ. An error of a file itself is thrown unchanged.
 */
export async function migrate(
  db: Pick<Database, 'sql'>,
  directory: string = ownMigrations,
): Promise<{ applied: number[]; version: number }> {
  const files = readMigrations(directory)
  const applied: number[] = []
  // One iteration more than there are files: the last one finds nothing to do.
  for (;;) {
    const version = await db.sql.begin(tx => applyNext(tx, files))
    if (version === undefined) return { applied, version: files.length }
    applied.push(version)
  }
}

/** Keeps every process from migrating until the transaction ends. So the schema can't change meanwhile. */
export async function lockSchema(tx: PoolTransaction): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${lock})`)
}

/**
 * Migrates in the caller's transaction, up to `version` (default: all). The transaction applies all of them
 * or none.
 */
export async function migrateWithin(tx: PoolTransaction, version?: number): Promise<void> {
  const files = readMigrations().slice(0, version)
  while ((await applyNext(tx, files)) !== undefined);
}

/** Checks and applies under one lock, so that the check still holds. Undefined when all are applied. */
async function applyNext(tx: PoolTransaction, files: readonly Migration[]): Promise<number | undefined> {
  // Held to the end of the transaction, so it works behind a pooler too. Only start-up depends on it.
  await lockSchema(tx)
  // Creating an index of a large table may take any time.
  await tx.query('SET LOCAL statement_timeout = 0')
  await tx.query('SET LOCAL lock_timeout = 0')
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
  await tx.query(next.text)
  await tx.query(`INSERT INTO ${migrationTable} (version, name, checksum) VALUES ($1, $2, $3)`, [
    `${next.version}`,
    next.name,
    next.checksum,
  ])
  return next.version
}

/**
 * The number of migrations applied to the database, and the number that this program has. Changes nothing.
 * Throws a StartupError when history and files differ.
 */
export async function schemaVersion(
  db: Pick<Database, 'query'>,
): Promise<{ readonly version: number; readonly known: number }> {
  const files = readMigrations()
  const [there] = await db.query(`SELECT (to_regclass('${migrationTable}') IS NOT NULL)::text AS there`)
  if (there!.there !== 'true') return { version: 0, known: files.length }
  const history = await db.query(
    `SELECT m.version::text AS version, m.name, m.checksum FROM ${migrationTable} m ORDER BY m.version`,
  )
  compare(history as readonly Applied[], files)
  return { version: history.length, known: files.length }
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
        `The database's schema is version ${newest} and this program knows only ${files.length}: run the newer program.`,
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
    return { version, name: match[2]!, text, checksum: createHash('sha256').update(text).digest('hex') }
  })
}

function nameOf({ version, name }: { version: string | number; name: string }): string {
  return `${String(version).padStart(4, '0')}-${name}`
}
