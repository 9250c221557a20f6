/**
 * Operational errors: PostgreSQL refuses a statement because of its own state, not because of the statement.
 * Its administrator has to act. Owns the texts for callers and the log; neither has a value of a statement in
 * it.
 */
import { PostgresError } from './postgres/wire.ts'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

const unwritable = 'takes no writes now: it is read-only. Reads are answered'
const memory = 'is out of memory'
const crowded = 'is overloaded'
const files = "can't use its files"
const damage = 'has found damage in its files'
const denied = 'refused this: the user that the service connects as lacks a right'

/** SQLSTATE → "The database …" */
const messages: { readonly [code: string]: string } = {
  // A replica, or default_transaction_read_only.
  '25006': unwritable,
  '42501': denied,
  '53000': crowded,
  '53100': "can't write now: its disk is full. Reads are answered",
  '53200': memory,
  '53300': crowded,
  '53400': crowded,
  '58000': files,
  '58030': files,
  '58P01': files,
  '58P02': files,
  XX001: damage,
  XX002: damage,
}

/** The operational error as a sentence without its full stop; null for an error about the statement. */
export function operationalErrorOf(error: unknown): string | null {
  const message = messages[(error as { code?: string }).code ?? '']
  return message ? `The database ${message}` : null
}

const sayAgainMs = 60_000
const mostRemembered = 100

/** Returns a function that logs operational errors, the same one at most once a minute. */
export function operationalErrorLog(log: (line: string) => void): (error: unknown) => void {
  const loggedAt = new Map<string, number>()
  return error => {
    const line = lineOf(error)
    if (line === null || performance.now() - (loggedAt.get(line) ?? Number.NEGATIVE_INFINITY) < sayAgainMs)
      return
    if (loggedAt.size >= mostRemembered) loggedAt.clear()
    loggedAt.set(line, performance.now())
    log(line)
  }
}

/**
 * Returns a function that logs a failure of background work on the database; `what` names the work. An
 * unavailable database is no failure: the work is retried.
 */
export function failureLog(what: string, log: (line: string) => void): (error: unknown) => void {
  return error => {
    if (!(asUnavailable(error) instanceof DatabaseUnavailable)) log(`${what} failed: ${error}`)
  }
}

function lineOf(error: unknown): string | null {
  const code = (failure: unknown) => (failure instanceof PostgresError ? ` (${failure.code})` : '')
  if (error instanceof DatabaseUnavailable)
    return `The database can't be asked: ${error.message}${code(error.cause)}.`
  const message = operationalErrorOf(error)
  return message && `${message}${code(error)}.`
}
