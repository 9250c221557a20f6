/** What a database error means to a caller; null for a fault of our own. */
import { constraintOf } from '../constraint.ts'
import { Refusal } from '../errors.ts'
import { StatementTooLarge } from './sendable.ts'
import { troubleOf } from './trouble.ts'
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts'

export function databaseRefusal(error: unknown): Refusal | null {
  if (asUnavailable(error) instanceof DatabaseUnavailable) {
    return new Refusal('database_unavailable', 'The database is not available; try again shortly.', [], {
      'retry-after': '1',
    })
  }
  if (error instanceof StatementTooLarge) {
    return new Refusal(
      'body_too_large',
      'The request asks the database for more values than it takes at once; ask for less.',
    )
  }
  const constraint = constraintOf(error)
  switch ((error as { code?: string }).code) {
    // A record that was there when it was asked for and gone when it was written.
    case '23503': {
      const field = /^[a-z]+_account_id_([a-z_]+?)_fkey$/.exec(constraint)?.[1] ?? null
      const message = `${field ?? 'A reference'}: the record it points to was deleted meanwhile.`
      const problem = { field, path: field ? `/${field}` : '', code: 'reference_not_found', message }
      return new Refusal('validation_failed', 'The record was not saved: one problem.', [problem])
    }
    case '23505': {
      const [, resource = 'record', field = 'name'] = /^([a-z]+)_(name|email)/.exec(constraint) ?? []
      const taken = field === 'name' ? { code: 'name_taken' } : { code: 'value_taken' }
      const problem = { field, path: `/${field}`, ...taken, message: `Another ${resource} has the ${field}.` }
      return new Refusal('duplicate', `There is a ${resource} with that ${field} already.`, [problem])
    }
    case '57014':
      return new Refusal(
        'query_too_slow',
        'The database ended it: it took too long, or its administrator stopped it. Ask for less: narrow the filter, or sort by another field.',
        [],
        {
          'retry-after': '1',
        },
      )
    case '55P03':
      return new Refusal('query_too_slow', 'It waited too long for what others are doing; try again.', [], {
        'retry-after': '1',
      })
    case '40001':
    case '40P01':
      return new Refusal('busy_record', 'Others changed the same records at that moment; try again.', [], {
        'retry-after': '1',
      })
    // Too deep for PostgreSQL's stack.
    case '54001':
      return new Refusal('body_too_large', 'The request is too complex for the database; ask for less.')
  }
  const trouble = troubleOf(error)
  return trouble === null
    ? null
    : new Refusal('database_unavailable', `${trouble}.`, [], { 'retry-after': '10' })
}
