/**
 * The admin token of the first start, kept in the data directory for its owner alone (D38, D119: mode 0600).
 * It is on the disk as `admin-token.pending` before the commit that makes it valid, and becomes `admin-token`
 * when the commit is known. So whenever the process is killed, one of the two files has the token of an
 * account that exists. Knows no database.
 */
import { access, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory, syncDirectory } from '../db/embedded/disk.ts'
import { asStartupError, StartupError } from '../db/startup-error.ts'

/**
 * What the database says of a token. A token is unknown to it when another database made the token, or when
 * the start was interrupted.
 */
export type TokenState = 'valid' | 'ended' | 'unknown'

export type TokenFile = {
  /**
   * Flushes a token to the disk that is about to become valid. Throws a StartupError when it can't be
   * written.
   */
  prepare(token: string): Promise<void>
  /**
   * Brings the files in line with the database. A pending token that became valid is kept; one that did not
   * is removed. A kept token that has ended is removed too. Returns the path of the file with a valid token;
   * null without one. The caller makes sure that nobody else does this, or is about to commit a pending
   * token, at the same time.
   */
  reconcile(stateOf: (token: string) => Promise<TokenState>): Promise<string | null>
}

/** `say` is told what an operator should know about the files. */
export function tokenFile(dataDir: string, say: (line: string) => void): TokenFile {
  const kept = join(dataDir, 'admin-token')
  const pending = `${kept}.pending`

  async function reconcile(stateOf: (token: string) => Promise<TokenState>): Promise<string | null> {
    const prepared = await read(pending)
    if (prepared !== null) {
      if ((await stateOf(prepared)) === 'valid') {
        await setAside(kept, say)
        await rename(pending, kept)
      } else await rm(pending)
      syncDirectory(dataDir)
    }
    const token = await read(kept)
    const state = token === null ? 'unknown' : await stateOf(token)
    if (state === 'ended') {
      await rm(kept)
      say(`The token in ${kept} has ended; the file was removed.`)
    }
    return state === 'valid' ? kept : null
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
        // The token is in one of the files. A later start that may write here finishes the work.
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

/** A first start may find the token of another database: it is set aside, not lost. */
async function setAside(kept: string, say: (line: string) => void): Promise<void> {
  if (!(await exists(kept))) return
  let count = 1
  while (await exists(`${kept}.${count}`)) count++
  await rename(kept, `${kept}.${count}`)
  say(`${kept} had the token of another database; that token is now in ${kept}.${count}.`)
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
