/**
 * Folders in the data directory for databases on their way: copies that a backup reads, and what a restore
 * makes before it counts. Owns their names and their end. Knows nothing of what is in them.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { acquireLock } from '../db/embedded/lock.ts'

/** Makes a new one. */
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
 * Removes those that a killed process has left; one that is in use stays, as its user has its lock. May be
 * called at any time by anybody who may write to `dataDir`.
 */
export async function removeLeftCopies(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  for (const entry of readdirSync(dataDir, { withFileTypes: true })) {
    const path = join(dataDir, entry.name)
    if (!entry.isDirectory() || !isCopyName(entry.name) || !isOurs(path)) continue
    // In use, or gone meanwhile.
    const lock = await acquireLock(path, () => {}).catch(() => null)
    if (lock) rmSync(path, { recursive: true, force: true })
    lock?.release()
  }
}

/** What somebody else has put there under such a name has something else in it, or lacks the lock. */
function isOurs(path: string): boolean {
  // Another may be removing it this moment.
  const entries = existsSync(path) ? readdirSync(path) : ['gone']
  return (
    entries.length === 0 ||
    (entries.includes('lock') && entries.every(name => /^(lock|pg|pg\.unfinished)$/.test(name)))
  )
}
