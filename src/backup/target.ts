/**
 * The target database of a restore: an empty one on a server, or a new one in a data directory. A new one
 * becomes the directory's database only when everything is loaded. Knows nothing of its content.
 */
import { existsSync, rmSync } from 'node:fs'
import { adoptCluster, hasCluster } from '../db/embedded/data-directory.ts'
import { makeDirectory } from '../db/embedded/disk.ts'
import { acquireLock } from '../db/embedded/lock.ts'
import type { Database, Log } from '../db/open.ts'
import { makeCopyFolder, removeLeftCopies } from './copy.ts'
import { BackupError } from './format.ts'
import { type DatabaseLocation, withDatabase } from './source.ts'

/** Throws a BackupError if the data directory has a database. */
export function requireFree({ databaseUrl, dataDir }: DatabaseLocation): void {
  if (databaseUrl || !existsSync(dataDir) || !hasCluster(dataDir)) return
  throw new BackupError(`${dataDir} has a database; set DATA_DIR to an empty directory to restore into.`)
}

/**
 * Opens the database for `fill` and closes it afterwards. If `fill` fails, a data directory is unchanged; on
 * a server, `fill` itself must undo its work. Throws a BackupError or StartupError if the database can't be
 * opened.
 */
export async function withTarget<T>(
  location: DatabaseLocation,
  log: Log,
  fill: (db: Database) => Promise<T>,
): Promise<T> {
  const { databaseUrl, pooler, dataDir } = location
  if (databaseUrl) return withDatabase({ url: databaseUrl, pooler }, log, fill)
  makeDirectory(dataDir)
  let isLost = false
  const lock = await acquireLock(dataDir, () => {
    isLost = true
  })
  try {
    requireFree(location)
    await removeLeftCopies(dataDir)
    const folder = makeCopyFolder(dataDir, 'restore')
    try {
      const result = await withDatabase({ dataDir: folder.path }, log, fill)
      if (isLost)
        throw new BackupError(`Another process has taken ${dataDir} meanwhile; nothing was restored.`)
      adoptCluster(dataDir, folder.path)
      return result
    } finally {
      rmSync(folder.path, { recursive: true, force: true })
    }
  } finally {
    lock.release()
  }
}
