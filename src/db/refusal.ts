/**
 * The refusal that a database error means to a caller; null for a fault of the service itself. Knows no
 * table.
 */
import { busy, Refusal } from '../errors.ts'
import { operationalErrorOf } from './operational-errors.ts'
import { StatementTooLarge } from './postgres/protocol-limits.ts'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

export function databaseRefusal(error: unknown): Refusal | null {
  if (asUnavailable(error) instanceof DatabaseUnavailable) {
    return new Refusal('database_unavailable', 'The database is not available; try again shortly.', [], {
      'retry-after': '1',
    })
  }
  if (error instanceof StatementTooLarge) {
    const detail = 'The request asks the database for more values than it takes at once; ask for less.'
    return new Refusal('body_too_large', detail)
  }
  switch ((error as { code?: string }).code) {
    // A constraint of the schema that no write knows.
    case '23503':
      return new Refusal('validation_failed', 'A record that this one points to was deleted meanwhile.')
    case '23505':
      return new Refusal('duplicate', 'There is such a record already.')
    case '57014':
      return new Refusal(
        'query_too_slow',
        'The database ended the request: it took too long, or an administrator stopped it. Ask for less: narrow the filter, or sort by another field.',
        [],
        { 'retry-after': '1' },
      )
    case '55P03':
      return new Refusal(
        'query_too_slow',
        'The request waited too long for what others are doing; try again.',
        [],
        { 'retry-after': '1' },
      )
    case '40001':
    case '40P01':
      return busy('Others changed the same records at that moment; try again.')
    // The statement is nested too deep for PostgreSQL's stack.
    case '54001':
      return new Refusal('body_too_large', 'The request is too complex for the database; ask for less.')
  }
  const message = operationalErrorOf(error)
  return message === null
    ? null
    : new Refusal('database_unavailable', `${message}.`, [], { 'retry-after': '10' })
}
