/**
 * The file of a backup: compressed, readable by its owner alone, and visible only when it is complete. Owns
 * its temporary name, its flush to the disk, and its division into lines. Knows nothing of the lines'
 * content.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { syncDirectory } from '../db/embedded/disk.ts'
import { systemErrorText } from '../db/startup-error.ts'
import { BackupError, damaged, longestLine, notABackup } from './format.ts'

/** For rows of deals, a third of the default level's time, and a file a quarter larger. */
const compression = { level: 3, chunkSize: 256 * 1024 }

/** Throws a BackupError if `file` exists or its folder doesn't. */
export function requireNewFile(file: string): void {
  if (existsSync(file)) throw new BackupError(`${file} exists already; name a new file.`)
  if (!existsSync(dirname(resolve(file))))
    throw new BackupError(`There is no folder ${dirname(resolve(file))} to put it in.`)
}

/**
 * Writes `content` to `file`, mode 0600, compressed unless `asIs`: first under a temporary name beside it,
 * then with an atomic rename once the content is on the disk. A failure or abort leaves nothing. Throws a
 * BackupError if the file exists, and rethrows other errors.
 */
export async function writeFile(
  file: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  asIs?: 'asIs',
): Promise<{ bytes: number }> {
  requireNewFile(file)
  const temporary = `${file}.unfinished-${randomUUID().slice(0, 8)}`
  try {
    const output = createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true })
    await (asIs
      ? pipeline(content, output, { signal })
      : pipeline(content, createGzip(compression), output, { signal }))
    requireNewFile(file)
    await rename(temporary, file)
    syncDirectory(dirname(resolve(file)))
    return { bytes: (await stat(file)).size }
  } catch (error) {
    await rm(temporary, { force: true })
    const { code = '', path } = error as NodeJS.ErrnoException
    // The error of a write does not name a path.
    if (path !== temporary && !/^(ENOSPC|EDQUOT|EFBIG|EIO)$/.test(code)) throw error
    throw new BackupError(`${temporary} can't be written: ${reasonOf(error)}.`)
  }
}

/**
 * The lines of a file of `writeFile`, each with its line feed, in groups as they are read. Throws a
 * BackupError if the file can't be read, is no such file, or is damaged.
 */
export async function* readLines(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array[]> {
  // The file is read twice, and to its end, so it can't be a pipe or a device.
  const found = await stat(file).catch(error => Promise.reject(readable(error, file)))
  if (!found.isFile()) throw notABackup(`${file} is not a file and`)
  const gunzip = createGunzip({ chunkSize: 256 * 1024 })
  // An error of the source ends the loop below.
  void pipeline(createReadStream(file), gunzip, { signal }).catch(() => {})
  let rest: Uint8Array[] = []
  let restLength = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const lines: Uint8Array[] = []
      let from = 0
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        const end = chunk.subarray(from, at + 1)
        lines.push(rest.length > 0 ? Buffer.concat([...rest, end]) : end)
        if (rest.length > 0) [rest, restLength] = [[], 0]
        from = at + 1
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
      restLength += chunk.length - from
      if (restLength > longestLine) throw damaged('it has a line without an end')
      if (lines.length > 0) yield lines
    }
  } catch (error) {
    throw readable(error, file)
  }
  if (restLength > 0) throw damaged('it ends within a line')
}

function readable(error: unknown, file: string): unknown {
  const { code = '', message, syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new BackupError(`There is no file ${file}.`)
  if (syscall !== undefined) return new BackupError(`${file} can't be read: ${reasonOf(error)}.`)
  if (/incorrect header check/.test(message)) return notABackup(file)
  if (/^Z_/.test(code)) return damaged(message)
  return error
}

function reasonOf(error: unknown): string {
  const { errno, code } = error as NodeJS.ErrnoException
  return `${errno === undefined ? 'failed' : systemErrorText(errno)} (${code})`
}
