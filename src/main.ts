/** The entry point: parses the command line, runs the command, and reports how it ended. */
import './older-node.ts'
import cluster from 'node:cluster'
import { createInterface } from 'node:readline/promises'
import { understand } from './cli/arguments.ts'
import { asRefusal, type Command, type CommandArguments, isRefusal, type Outcome } from './cli/command.ts'
import { commands } from './cli/commands.ts'
import { onDatabase } from './cli/database.ts'
import { printable } from './cli/printable.ts'
import { readConfig } from './config.ts'
import { ConfigError } from './setting-values.ts'

/**
 * Runs the command line. Exit codes: 0 done, 1 refused or failed, 2 wrong arguments, 3 an import that needs
 * an answer about a column.
 */
export async function main(args: readonly string[]): Promise<void> {
  const startedAt = performance.now()
  const asked = understand(args, commands)
  if ('help' in asked) return console.log(asked.help)
  if ('misuse' in asked) {
    console.error(asked.misuse)
    process.exitCode = 2
    return
  }
  const { command, given, isJson } = asked
  try {
    if (command.name !== 'serve') return await run(command, given, isJson)
    // Loaded here, because the service's modules would slow every other command down.
    const config = readConfig(process.env)
    if (config.workers > 1 && cluster.isPrimary) {
      const { supervise } = await import('./supervise.ts')
      await supervise(config, isJson)
    } else {
      const { serve } = await import('./serve.ts')
      await serve(config, { startedAt, isJson })
    }
  } catch (error) {
    const refusal = asRefusal(error)
    console.error(refusal instanceof ConfigError || isRefusal(refusal) ? refusal.message : refusal)
    process.exit(1)
  }
}

/** The first signal aborts the command, which cleans up; a second one exits at once. */
async function run(command: Command, given: CommandArguments, isJson: boolean): Promise<void> {
  const stopped = new AbortController()
  const { signal } = stopped
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      if (signal.aborted) process.exit(1)
      stopped.abort()
    })
  }
  const print = (part: Outcome) => say(part, isJson)
  const terminal = { config: readConfig(process.env), now: new Date(), say: console.error, print, signal }
  try {
    const whole = await completed(command, given, signal)
    const { carryOut } = command
    const outcome = await (carryOut ? carryOut(terminal, whole) : onDatabase(command, whole, terminal))
    if (outcome) say(outcome, isJson)
  } catch (error) {
    if (!signal.aborted) throw error
    // The running service may have done a part of the command already.
    console.error(
      command.act ? 'Stopped; what it had done by then stays.' : 'Stopped; nothing was left behind.',
    )
    process.exitCode = 1
  }
}

/** The command's arguments; prompts at the terminal for the missing one. */
async function completed(
  { asks }: Command,
  given: CommandArguments,
  signal: AbortSignal,
): Promise<CommandArguments> {
  if (!asks || given.yes !== undefined || given[asks.option] !== undefined || !process.stdin.isTTY)
    return given
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return { ...given, [asks.option]: await terminal.question(asks.question, { signal }) }
  } finally {
    terminal.close()
  }
}

function say({ text, data, notes = [], exitCode = 0 }: Outcome, isJson: boolean): void {
  for (const note of notes) console.error(printable(note))
  console.log(isJson ? JSON.stringify(data) : text)
  if (exitCode) process.exitCode = exitCode
}
