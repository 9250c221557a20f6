/** The limits of the database's protocol and client. Knows nothing of the content of statements. */

/** The statement has more parameters, or is longer, than the protocol allows. */
export class StatementTooLarge extends Error {
  override name = 'StatementTooLarge'
}

/** The client's limit; the protocol allows two more. */
const parametersMax = 65_533
/** PostgreSQL takes messages of a gigabyte. A character of JavaScript has up to three bytes there. */
const charactersMax = 250_000_000

/**
 * The limit that a statement exceeds; null if none. Check it before sending, because an error while sending
 * would cost other statements their answers.
 */
export function checkSendable(text: string, params: readonly (string | null)[] = []): Error | null {
  if (params.length > parametersMax) {
    return new StatementTooLarge(`A statement has at most ${parametersMax} parameters, not ${params.length}`)
  }
  let characters = text.length
  for (const param of params) {
    if (typeof param === 'string') characters += param.length
    else if (param !== null) return new TypeError(`A parameter is a text or null, not ${typeof param}`)
  }
  return characters > charactersMax
    ? new StatementTooLarge(`A statement has at most ${charactersMax} characters`)
    : null
}
