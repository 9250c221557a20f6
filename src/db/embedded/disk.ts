/**
 * Files and directories of the service: private to their owner, and flushed to disk (fsync). Knows nothing of
 * their content.
 */
import * as fs from 'node:fs'
import * as path from 'node:path'

/** Permission bits that nobody but the owner should have. */
export const groupAndOthers = 0o077

/** Number of files flushed at the same time; each is an open file. */
const filesAtOnce = 16

/**
 * Makes a directory and its missing parents. Node.js's own recursive way reports other errors as "no such
 * file".
 */
export function makeDirectory(directory: string): void {
  try {
    fs.mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && fs.statSync(directory).isDirectory()) return
    if (code !== 'ENOENT') throw error
    makeDirectory(path.dirname(directory))
    makeDirectory(directory)
  }
}

/** Flushes a directory's entries to disk. Skips a directory that no longer exists. */
export function syncDirectory(directory: string): void {
  let descriptor: number
  try {
    descriptor = fs.openSync(directory, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    // Windows cannot open a directory; its file systems journal names themselves.
    if (process.platform === 'win32') return
    throw error
  }
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Flushes `directory`, and every file and directory below it, to disk. */
export async function syncTree(directory: string): Promise<void> {
  const rest = (await fs.promises.readdir(directory, { recursive: true, withFileTypes: true })).values()
  const syncNext = async () => {
    for (const entry of rest) {
      const name = path.join(entry.parentPath, entry.name)
      if (entry.isDirectory()) syncDirectory(name)
      else await syncFile(name)
    }
  }
  await Promise.all(Array.from({ length: filesAtOnce }, syncNext))
  syncDirectory(directory)
}

async function syncFile(name: string): Promise<void> {
  const file = await fs.promises.open(name, 'r+')
  await file.sync().finally(() => file.close())
}

/** Removes all permissions of group and others from the files below `directory`. */
export function makeTreePrivate(directory: string): void {
  for (const entry of fs.readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const name = path.join(entry.parentPath, entry.name)
    const { mode } = fs.lstatSync(name)
    if (mode & groupAndOthers) fs.chmodSync(name, mode & 0o7777 & ~groupAndOthers)
  }
}
