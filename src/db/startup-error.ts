/** The reason why the database can't be opened, for the operator. Knows no engine. */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { getSystemErrorMap } from 'node:util'

/** The message is one line with the problem and the remedy. A stack trace would add nothing. */
export class StartupError extends Error {
  override name = 'StartupError'
  readonly isPlain = true
}

const needsFiles = () => 'Raise the limit of open files (ulimit -n).'
const needsDirectory = () => 'A file is in the place of a directory.'
/** The code of an error → the remedy, for a path and the folder that it is in. */
const advice: { readonly [code: string]: (path?: string, folder?: string) => string } = {
  EROFS: () =>
    'Set DATA_DIR or BACKUP_DIR to a place that can be written to, or mount it without "ro"; under systemd, see ReadWritePaths.',
  EMFILE: needsFiles,
  ENFILE: needsFiles,
  ENOTDIR: needsDirectory,
  EEXIST: needsDirectory,
  ENOSPC: roomAdvice,
  EDQUOT: roomAdvice,
  EACCES: rightsAdvice,
  EPERM: rightsAdvice,
}

/**
 * Turns an error of the file system into a StartupError that names the file and the remedy: "/data/lock can't
 * be used: no space left on device (ENOSPC). Make room on the disk …" Returns any other error unchanged.
 * `folder` is the one that has to belong to this process as a whole, if the file is inside it.
 */
export function asStartupError(error: unknown, folder?: string): unknown {
  if (!(error instanceof Error)) return error
  const { errno, code, syscall = '', path, dest } = error as NodeJS.ErrnoException & { dest?: string }
  // An error about an open file names no path.
  const isOfFile = path !== undefined || /^(write|read|fsync|ftruncate|close)$/.test(syscall)
  if (errno === undefined || !code || !isOfFile) return error
  const what = [path, dest].filter(Boolean).join(' → ') || `A file that is open (${syscall})`
  const text = `${what} can't be used: ${systemErrorText(errno)} (${code}).`
  const hint = advice[code]?.(path ?? folder, folder)
  return new StartupError([text, hint].filter(Boolean).join(' '), { cause: error })
}

/** The command that shows what to remove or to move. */
function roomAdvice(path?: string): string {
  if (path === undefined) return 'Make room on the disk that "df -h" shows as full.'
  const place = existing(path)
  const folder = statSync(place).isDirectory() ? place : dirname(place)
  return `Make room on the disk; this shows what takes it: du -xh '${mountOf(folder)}' | sort -h | tail`
}

/** The folder on which the disk of `folder` is mounted. */
function mountOf(folder: string): string {
  const above = dirname(folder)
  const isSameDisk = above !== folder && statSync(above).dev === statSync(folder).dev
  return isSameDisk ? mountOf(above) : folder
}

/** The command that lets this process write to a place. A file that is not there yet has no owner. */
function rightsAdvice(path?: string, folder?: string): string {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  if (user === undefined || path === undefined) return 'Let the user that runs the service write there.'
  const place = folder && `${path}/`.startsWith(`${folder}/`) ? folder : path
  return `Let the user that runs the service write there: chown -R ${user}:${group} '${existing(place)}'`
}

/** The path, or the nearest folder above it that is there. */
function existing(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existing(dirname(path))
}

/** The system's words for an error, such as "no space left on device". */
export function systemErrorText(errno: number): string {
  return getSystemErrorMap().get(errno)?.[1] ?? `error ${errno}`
}
