/**
 * Temporary folders in the data directory for databases: copies that a backup reads, and the database that a
 * restore makes before it becomes the real one. Owns their names and their removal. Knows nothing of what is
 * in them.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { acquireLock } from '../db/embedded/lock.ts'

/** Makes a new folder. */
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
 * Removes the folders that a killed process has left. A folder in use stays, because its user has its lock.
 * Anybody who may write to `dataDir` may call this at any time.
 */
export async function removeLeftCopies(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const path = join(dataDir, entry.name)
    if (!entry.isDirectory() || !isCopyName(entry.name) || !isOurs(path)) continue
    // The folder is in use, or was removed meanwhile.
    const lock = await acquireLock(path, () => {}).catch(() => null)
    if (lock) rmSync(path, { recursive: true, force: true })
    lock?.release()
  }
}

/**
 * Whether the service made the folder. A foreign folder of such a name has other contents, or lacks the lock.
 */
function isOurs(path: string): boolean {
  // Another process may be removing the folder right now.
  const entries = existsSync(path) ? readdirSync(path) : ['gone']
  return (
    entries.length === 0 ||
    (entries.includes('lock') && entries.every(name => /^(lock|pg|pg\.unfinished)$/.test(name)))
  )
}
