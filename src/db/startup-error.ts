/** What keeps the database from being opened, said to the operator. Knows no engine. */

/** Its message is one whole line that says what is wrong and what to do; a stack trace adds nothing. */
export class StartupError extends Error {
  override name = 'StartupError'
  readonly isPlain = true
}
