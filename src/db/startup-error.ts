/** What keeps the database from being opened, said to the operator. Knows no engine. */
import { getSystemErrorMessage } from 'node:util'

/** Its message is one whole line that says what is wrong and what to do; a stack trace adds nothing. */
export class StartupError extends Error {
  override name = 'StartupError'
  readonly isPlain = true
}

/**
 * What the system refused to do with a file or a folder, as a StartupError that names both:
 * "/data/lock can't be used: permission denied (EACCES)." Any other error as it came.
 */
export function asStartupError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { errno, code, syscall = '', path, dest } = error as NodeJS.ErrnoException & { dest?: string }
  // What is done to a file that is open names no path.
  const isOfFile = path !== undefined || /^(write|read|fsync|ftruncate|close)$/.test(syscall)
  if (errno === undefined || !code || !isOfFile) return error
  const what = [path, dest].filter(Boolean).join(' → ') || `A file that is open (${syscall})`
  return new StartupError(`${what} can't be used: ${getSystemErrorMessage(errno)} (${code}).`, { cause: error })
}
