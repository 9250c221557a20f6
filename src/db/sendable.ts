/**
 * What the database's protocol and client have room for. Owns these limits; knows nothing of what is asked.
 */

/** A statement that has more parameters or is longer than can be sent. */
export class StatementTooLarge extends Error {
  override name = 'StatementTooLarge'
}

/** The most that the client can send; the protocol has room for two more. */
const parametersMax = 65_533
/** PostgreSQL takes a gigabyte for a message; a character of JavaScript is up to three bytes of it. */
const charactersMax = 250_000_000

/**
 * What is wrong with a statement, before the client begins to send it: what it throws then costs others their
 * answers.
 */
export function complaint(text: string, params: readonly (string | null)[] = []): Error | null {
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
