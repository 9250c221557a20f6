/**
 * The file of the first start's admin token in the data directory, readable by its owner alone (D38, D119:
 * mode 0600). The token is in `admin-token.pending` before the commit that makes it valid, and in
 * `admin-token` after it. So a crash at any moment leaves the token of an existing account in one of the two.
 * Knows no database.
 */
import { access, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory, syncDirectory } from '../db/embedded/disk.ts'
import { asStartupError, StartupError } from '../db/startup-error.ts'

/**
 * The state of a token in the database. It is unknown if another database created it, or if the start was
 * interrupted.
 */
export type TokenState = 'valid' | 'ended' | 'unknown'

export type TokenFile = {
  /** Flushes a token to the disk before it becomes valid. Throws a StartupError if it can't be written. */
  prepare(token: string): Promise<void>
  /**
   * Reconciles the files with the database. A pending token that became valid is moved to its place, any
   * other is removed; so is a stored token that has ended. Returns the path of the file with a valid token;
   * null without one. The caller must hold the lock under which tokens are created.
   */
  reconcile(stateOf: (token: string) => Promise<TokenState>): Promise<string | null>
}

/** `say` gets messages about the files for the operator. */
export function tokenFile(dataDir: string, say: (line: string) => void): TokenFile {
  const path = join(dataDir, 'admin-token')
  const pending = `${path}.pending`

  async function reconcile(stateOf: (token: string) => Promise<TokenState>): Promise<string | null> {
    const prepared = await read(pending)
    if (prepared !== null) {
      if ((await stateOf(prepared)) === 'valid') {
        await setAside(path, say)
        await rename(pending, path)
      } else await rm(pending)
      syncDirectory(dataDir)
    }
    const token = await read(path)
    const state = token === null ? 'unknown' : await stateOf(token)
    if (state === 'ended') {
      await rm(path)
      say(`The token in ${path} has ended; the file was removed.`)
    }
    return state === 'valid' ? path : null
  }

  return {
    async prepare(token) {
      try {
        makeDirectory(dataDir)
        await writeThrough(pending, `${token}\n`)
        syncDirectory(dataDir)
      } catch (error) {
        throw new StartupError(
          `No account was made, because its admin token can't be kept: ${messageOf(error)} Set DATA_DIR to a folder that the ` +
            'service may write to, or DEALWRIGHT_TOKEN to a token of your own.',
          { cause: error },
        )
      }
    },
    reconcile: stateOf =>
      reconcile(stateOf).catch(error => {
        if (asStartupError(error) === error) throw error
        // The token is in one of the files. A later start with write access finishes the move.
        say(`The file of the admin token was left as it is: ${messageOf(error)}`)
        return null
      }),
  }
}

async function writeThrough(path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A first start may find the token of another database: the file is renamed, not lost. */
async function setAside(path: string, say: (line: string) => void): Promise<void> {
  if (!(await exists(path))) return
  let count = 1
  while (await exists(`${path}.${count}`)) count++
  await rename(path, `${path}.${count}`)
  say(`${path} had the token of another database; that token is now in ${path}.${count}.`)
}

async function read(path: string): Promise<string | null> {
  return (await exists(path)) ? (await readFile(path, 'utf8')).trim() : null
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

function messageOf(error: unknown): string {
  return (asStartupError(error) as Error).message
}
