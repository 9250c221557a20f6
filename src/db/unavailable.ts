/**
 * The one error that means "try again in a moment": the database cannot be asked now.
 * Owns which refusals of PostgreSQL mean that. Knows no engine and no HTTP.
 */

/** The statement was not answered because the database cannot be reached. It may or may not have been carried out. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/**
 * `DatabaseUnavailable` in place of a refusal that means it: PostgreSQL is being shut down, has crashed or is not yet started, or what stands
 * between has lost the connection (SQLSTATE class 08). Any other error as it came.
 */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(08...|57P..)$/.test(code) ? new DatabaseUnavailable((error as Error).message, { cause: error }) : error
}
