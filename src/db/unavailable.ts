/**
 * The errors that mean "try again later": the database is unavailable, or can't be written to. Owns which
 * refusals of PostgreSQL mean that. Knows no engine and no HTTP.
 */

/**
 * The statement was not answered because the database cannot be reached. It may or may not have been carried
 * out.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/**
 * Rejects in a later turn of the event loop, so that a caller that retries at once doesn't starve timers and
 * sockets.
 */
export async function rejectLater(error: Error): Promise<never> {
  await new Promise(setImmediate)
  throw error
}

/** The disk has no space for writes, while reads still work. PostgreSQL uses the same code. */
export class DiskFull extends Error {
  override name = 'DiskFull'
  readonly code = '53100'
  constructor() {
    super('The disk is full')
  }
}

/**
 * Turns an error into `DatabaseUnavailable` if PostgreSQL is shutting down, has crashed or has not started
 * yet, or a proxy has lost the connection (SQLSTATE class 08). Returns any other error unchanged. Citus says
 * by its message alone that the coordinator has crashed.
 */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isCrashed = code === 'XX000' && (error as Error).message.startsWith('postmaster was shut down')
  return isCrashed || /^(08...|57P..)$/.test(code)
    ? new DatabaseUnavailable((error as Error).message, { cause: error })
    : error
}

/** A message that PostgreSQL never sends there; the server may be another. `what` quotes nothing of it. */
export function protocolViolation(what: string): DatabaseUnavailable {
  return new DatabaseUnavailable(`The server does not keep to PostgreSQL's protocol: ${what}`)
}

/**
 * A bug of the client itself. The log gets the place where it was thrown, without its message, which may
 * quote a value.
 */
export function clientFault(error: unknown, log: (line: string) => void): DatabaseUnavailable {
  const { name = typeof error, stack } = error as { name?: string; stack?: string }
  const [place] = /^ +at .*$/m.exec(stack ?? '') ?? ['']
  log(
    `A connection to the database was ended because the client failed: ${name}${place.replace(/\s+/g, ' ')}.`,
  )
  return new DatabaseUnavailable('The client failed on the connection', { cause: error })
}
