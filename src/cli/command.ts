/** What a command is (D67): its name, what it takes, and what carries it out. */
import type { Config } from '../config.ts'
import type { Database } from '../db/open.ts'
import type { Json } from '../json.ts'
import { printable } from './printable.ts'

export type Option = {
  readonly name: string
  /** one letter that says the same */
  readonly short?: string
  /** what stands for its value in the help; absent: it has none */
  readonly value?: string
  readonly does: string
  readonly isNeeded?: true
  /** whether it may be given several times; its values are lines then */
  readonly isMany?: true
}

/** What was given: the values of options by their names, and the argument by its own. A flag is 'yes'. */
export type Given = { readonly [name: string]: string | undefined }

/** What a command did: for people, and for programs. */
export type Outcome = {
  readonly text: string
  readonly data: { readonly [name: string]: Json }
  /** for people, on standard error; each on a line */
  readonly notes?: readonly string[]
  /** 1: the command found something wrong; 3: it needs an answer; else all is well */
  readonly exitCode?: 0 | 1 | 3
}

/** With what a command works on an open database. */
export type Operating = {
  readonly now: Date
  readonly retentionDays: number
  /** under which browsers reach the service; null where the settings don't tell */
  readonly origin: string | null
  /** whether it works in the process that was started at the terminal */
  readonly isTerminal?: true
}

/** With what a command works that opens its database itself, if it needs one. */
export type Terminal = {
  readonly config: Config
  readonly now: Date
  /** takes a line for the operator */
  readonly say: (line: string) => void
  /** prints a part of what the command tells, before its end */
  readonly print: (part: Pick<Outcome, 'text' | 'data'>) => void
  /** ends the command, with nothing left behind */
  readonly signal: AbortSignal
}

export type Command = {
  /** one word or two: `account create` */
  readonly name: string
  readonly does: string
  /** the name of what it takes without an option, as the help shows it */
  readonly argument?: { readonly name: string; readonly does: string }
  readonly options: readonly Option[]
  /** more than `does` says, for the help of the command */
  readonly more?: string
  /** on an open database, in a running service where that has it open */
  readonly act?: (db: Database, given: Given, operating: Operating) => Promise<Outcome>
  /** whether it works on a database that has no schema, or an older one; makes one where there is none */
  readonly isForAnySchema?: true
  /** an option that a person at a terminal is asked for, unless it or `yes` is given */
  readonly asks?: { readonly option: string; readonly question: string }
  /** in this process; null: it has printed all it had to say */
  readonly carryOut?: (terminal: Terminal, given: Given) => Promise<Outcome | null>
}

/** Why a command is refused: one line that says what to do. */
export class CommandRefusal extends Error {
  readonly isPlain = true

  constructor(message: string, options?: ErrorOptions) {
    super(printable(message), options)
  }
}
