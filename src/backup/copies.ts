/**
 * Temporary folders in the data directory for databases: copies that a backup reads, and the database that a
 * restore builds before it becomes the real one. Owns their names and their removal. Knows nothing of their
 * content.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { acquireLock } from '../db/embedded/lock.ts'

/** Creates a new folder. */
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
