/** Turns refusals into one line for a person at a terminal. Faults of the program are unchanged. */
import { asStartupError } from '../db/startup-error.ts'
import { asUnavailable, DatabaseUnavailable } from '../db/unavailable.ts'
import { Refusal } from '../errors.ts'
import { CommandRefusal } from './command.ts'

/** The error as one of one line, if it is a refusal; else unchanged. */
export function asRefusal(error: unknown): unknown {
  const known = asUnavailable(asStartupError(error))
  if (known instanceof Refusal) return new CommandRefusal(textOf(known))
  if (known instanceof DatabaseUnavailable) return new CommandRefusal(`${known.message}.`, { cause: error })
  const { name, message, code } = known as Error & { code?: string }
  if (name !== 'PostgresError') return known
  return new CommandRefusal(`The database refused it: ${message.replace(/\s+/g, ' ')} (${code}).`)
}

export function isRefusal(error: unknown): error is Error {
  return (error as { isPlain?: boolean }).isPlain === true
}

function textOf({ message, problems }: Refusal): string {
  const lines = problems.map(problem => [problem.message, problem.hint].filter(Boolean).join(' '))
  return [message, ...lines].join(' ')
}
