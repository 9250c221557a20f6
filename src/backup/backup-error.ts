/** The error of a failed backup or restore, for the operator. Knows neither files nor databases. */

/** Its message is one whole line with the problem and the remedy; a stack trace adds nothing. */
export class BackupError extends Error {
  override name = 'BackupError'
  readonly isPlain = true
}
