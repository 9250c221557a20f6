/**
 * The one error that means "try again in a moment": the database cannot be asked now.
 * Owns which refusals of PostgreSQL mean that. Knows no engine and no HTTP.
 */

/** The statement was not answered because the database cannot be reached. It may or may not have been carried out. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** PostgreSQL: shut down by an administrator, crashed, not yet started, too many connections. */
const codes = new Set(['57P01', '57P02', '57P03', '53300'])

/** `DatabaseUnavailable` in place of a failure that means it (SQLSTATE class 08 included); any other error as it came. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return new DatabaseUnavailable(error.message, { cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!codes.has(code) && !/^08...$/.test(code)) return error
  return new DatabaseUnavailable(`The database is not available (${code})`, { cause: error })
}
