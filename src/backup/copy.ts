/**
 * Copies an embedded database that a running service has open, for a backup: the service copies the files on
 * request, while its only connection is idle. Owns the names and the removal of the temporary folders in the
 * data directory: those of copies, and of a database that a restore builds. Knows nothing of a copy's use.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { copyCluster } from '../db/embedded/data-directory.ts'
import { acquireLock } from '../db/embedded/lock.ts'
import type { Database } from '../db/open.ts'
import { type Answers, askService, ServiceRefusal } from '../local-socket.ts'
import { BackupError } from './format.ts'

export function makeCopyFolder(
  dataDir: string,
  what: 'backup' | 'restore',
): { readonly name: string; readonly path: string } {
  const path = mkdtempSync(join(dataDir, `${what}-`))
  return { name: basename(path), path }
}

export function isCopyName(name: string): boolean {
  return /^(backup|restore)-[A-Za-z0-9]{6}$/.test(name)
}

/**
 * Removes the folders that a killed process has left. A folder in use stays, because its user holds its lock.
 * Safe at any time for every process with write access to `dataDir`.
 */
export async function removeLeftCopies(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const path = join(dataDir, entry.name)
    if (!entry.isDirectory() || !isCopyName(entry.name) || !isOurs(path)) continue
    // Null if the folder is in use, or was removed meanwhile.
    const lock = await acquireLock(path, () => {}).catch(() => null)
    if (lock) rmSync(path, { recursive: true, force: true })
    lock?.release()
  }
}

/** True if the service made the folder. Foreign folders of such a name have other contents, or no lock. */
function isOurs(path: string): boolean {
  // Another process may be removing the folder right now.
  const entries = existsSync(path) ? readdirSync(path) : ['gone']
  return (
    entries.length === 0 ||
    (entries.includes('lock') && entries.every(name => /^(lock|pg|pg\.unfinished)$/.test(name)))
  )
}

/** The request handlers of the service that has `dataDir` open as `db`. */
export function copyAnswers(db: Database, dataDir: string): Answers {
  return {
    async copy({ folder }) {
      await copy(db, dataDir, String(folder))
      return {}
    },
  }
}

/** The transaction occupies the engine's only session: running statements end first, new ones wait for it. */
async function copy(db: Database, dataDir: string, name: string): Promise<void> {
  if (!isCopyName(name)) throw new Error('not a name of a copy')
  await db.sql.begin(async tx => {
    await tx.query('SELECT 1')
    await copyCluster(dataDir, join(dataDir, name))
    // Fails if the engine was reopened meanwhile, because opening it writes to the files.
    await tx.query('SELECT 1')
  })
}

/**
 * Requests a copy of the database in `dataDir` from the service that has it open, into the folder `name`
 * there. False if no service answers. Throws a BackupError if the service fails.
 */
export async function requestCopy(dataDir: string, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await askService(dataDir, 'copy', { folder: name }, signal)) !== null
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error
    throw new BackupError(`The running service could not copy its database: ${error.message}`)
  }
}
