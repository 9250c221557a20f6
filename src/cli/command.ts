/**
 * The type of a command (D67): its name, its arguments, and its function; and its refusals, as one line for a
 * person at a terminal.
 */
import type { Config } from '../config.ts'
import type { Database } from '../db/open.ts'
import { asStartupError } from '../db/startup-error.ts'
import { asUnavailable, DatabaseUnavailable } from '../db/unavailable.ts'
import { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import { printable } from './printable.ts'

export type Option = {
  readonly name: string
  /** one-letter alias */
  readonly short?: string
  /** placeholder of its value in the help; absent: a flag */
  readonly value?: string
  readonly does: string
  readonly isNeeded?: true
  /** true if it can be repeated; its values are joined by NUL, which no argument has */
  readonly isMany?: true
}

/** Values of options by name, and the argument by its own name. A flag is 'yes'. */
export type CommandArguments = { readonly [name: string]: string | undefined }

/** The result of a command: for people, and for programs. */
export type Outcome = {
  readonly text: string
  readonly data: { readonly [name: string]: Json }
  /** for people, on standard error; each on a line */
  readonly notes?: readonly string[]
  /** 1: the command found a problem; 3: it needs an answer; else 0 */
  readonly exitCode?: 0 | 1 | 3
}

/** The environment of a command that works on an open database. */
export type CommandContext = {
  readonly now: Date
  readonly retentionDays: number
  /** origin for browsers; null: unknown from the settings */
  readonly origin: string | null
  /** aborts when nobody waits for the command any more */
  readonly signal: AbortSignal
  /** true in the process that was started at the terminal */
  readonly isTerminal?: true
}

/** The environment of a command that opens its database itself, if it needs one. */
export type Terminal = {
  readonly config: Config
  readonly now: Date
  /** prints a line for the operator */
  readonly say: (line: string) => void
  /** prints a part of the output before the command ends */
  readonly print: (part: Pick<Outcome, 'text' | 'data'>) => void
  /** aborts the command, which cleans up */
  readonly signal: AbortSignal
}

export type Act = (db: Database, args: CommandArguments, context: CommandContext) => Promise<Outcome>

export type Command = {
  /** one or two words: `account create` */
  readonly name: string
  readonly does: string
  /** positional argument, with its name in the help */
  readonly argument?: { readonly name: string; readonly does: string }
  readonly options: readonly Option[]
  /** additional text for the help of the command */
  readonly more?: string
  /** works on an open database, inside the running service if that has it open */
  readonly act?: Act
  /** true if it works without a schema, or with an older one; creates the database if there is none */
  readonly isForAnySchema?: true
  /** option for which a terminal prompts, unless it or `yes` is present */
  readonly asks?: { readonly option: string; readonly question: string }
  /** works in this process; null: all output is printed already */
  readonly carryOut?: (terminal: Terminal, args: CommandArguments) => Promise<Outcome | null>
}

/** The refusal of a command: one line that says what to do. */
export class CommandRefusal extends Error {
  readonly isPlain = true

  constructor(message: string, options?: ErrorOptions) {
    super(printable(message), options)
  }
}

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
