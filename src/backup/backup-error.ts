/**
 * What keeps a backup from being made or restored, said to the operator. Knows neither files nor databases.
 */

/** Its message is one whole line that says what is wrong and what to do; a stack trace adds nothing. */
export class BackupError extends Error {
  override name = 'BackupError'
  readonly isPlain = true
}
