/** The reason why a backup can't be made or restored, for the operator. Knows neither files nor databases. */

/** Its message is one whole line that says what is wrong and what to do; a stack trace adds nothing. */
export class BackupError extends Error {
  override name = 'BackupError'
  readonly isPlain = true
}
