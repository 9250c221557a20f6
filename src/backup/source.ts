/**
 * The source database of a backup: a server, a data directory that is not open, or a copy of one that a
 * running service has open. Owns the life of the copy. Knows nothing of its content.
 */
import { existsSync, rmSync } from 'node:fs'
import { hasCluster } from '../db/embedded/data-directory.ts'
import { acquireLock } from '../db/embedded/lock.ts'
import { type Database, type DatabaseOptions, type Log, openDatabase, type Pooler } from '../db/open.ts'
import { makeCopyFolder, removeLeftCopies, requestCopy } from './copy.ts'
import { BackupError } from './format.ts'

/** The settings with the database's location. */
export type DatabaseLocation = {
  readonly databaseUrl: string | null
  readonly pooler?: Pooler | null | undefined
  readonly dataDir: string
}

/**
 * A backup needs no statement timeout. The embedded engine always has one, so it gets a very long one. Nobody
 * waits behind it if the server is silent for a while.
 */
const longRunning = {
  ...{ statementTimeoutMs: 24 * 3_600_000, waitMs: 24 * 3_600_000, silenceMs: 60_000 },
  poolSize: 1,
}

/**
 * Opens the database for `read` and closes it afterwards; a copy is removed. Throws a BackupError or
 * StartupError if there is no database or it can't be read.
 */
export async function withSource<T>(
  location: DatabaseLocation,
  log: Log,
  signal: AbortSignal,
  read: (db: Database) => Promise<T>,
): Promise<T> {
  const { databaseUrl, pooler, dataDir } = location
  if (databaseUrl) return withDatabase({ url: databaseUrl, pooler }, log, read)
  if (!existsSync(dataDir) || !hasCluster(dataDir))
    throw new BackupError(`There is no database in ${dataDir}; set DATA_DIR or DATABASE_URL.`)
  await removeLeftCopies(dataDir)
  const copy = makeCopyFolder(dataDir, 'backup')
  try {
    // The lock shows other processes that the copy is in use.
    const lock = await acquireLock(copy.path, () => {})
    const isCopied = await requestCopy(dataDir, copy.name, signal).finally(() => lock.release())
    if (isCopied && !hasCluster(copy.path))
      throw new BackupError('The running service made no copy of its database.')
    return await withDatabase({ dataDir: isCopied ? copy.path : dataDir }, log, read)
  } finally {
    rmSync(copy.path, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Opens a database for `act`, without a limit of time, and closes it afterwards. */
export async function withDatabase<T>(
  where: Omit<DatabaseOptions, 'log'>,
  log: Log,
  act: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await openDatabase({ ...where, ...longRunning, log })
  try {
    return await act(db)
  } finally {
    await db.close()
  }
}
