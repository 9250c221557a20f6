/**
 * The entry: the commands, the start (settings, database, first start, HTTP), what it says on the terminal,
 * and a clean end.
 */
import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { firstStart } from './accounts/first-start.ts'
import { createSample } from './accounts/sample.ts'
import { tokenFile } from './accounts/token-file.ts'
import { buildApp } from './app.ts'
import { backup, type CommandOptions, restore } from './backup/command.ts'
import { removeLeftCopies } from './backup/copies.ts'
import { offerCopies } from './backup/copy-socket.ts'
import { progress } from './backup/progress.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { requireFolding } from './db/require-folding.ts'
import { asStartupError } from './db/startup-error.ts'
import { logOptions } from './log.ts'
import { connectionsWithin } from './open-files.ts'
import { whenNpmIsGone } from './parent.ts'

/**
 * How long requests under way may take when the service stops, and how long the stop in any case: supervisors
 * wait some time before SIGKILL.
 */
const [finishWithinMs, stopWithinMs] = [8_000, 14_000]

const help = `dealwright                  starts the service
dealwright backup FILE      writes the database to a new file, also while the service runs
dealwright restore FILE     loads such a file into an empty database

The settings are environment variables, DATA_DIR and DATABASE_URL among them: docs/operating.md.`

const commands: { readonly [name: string]: (options: CommandOptions) => Promise<string> } = {
  backup,
  restore,
}

/**
 * Carries out the command line. On failure it ends the process: with code 2 for unknown arguments, else with
 * 1.
 */
export async function main(args: readonly string[]): Promise<void> {
  const [name, file] = args
  const command = name === undefined ? undefined : Object.hasOwn(commands, name) ? commands[name] : undefined
  if (args.length === 1 && (name === '--help' || name === '-h')) return console.log(help)
  if (name !== undefined && !command) return misused(`There is no command "${name}"`)
  if (command && (!file || file.startsWith('-')))
    return misused(`"dealwright ${name}" needs the name of a file`)
  if (args.length > 2) return misused(`"${args[2]}" is one argument too many`)
  try {
    if (command) await run(command, readConfig(process.env), file!)
    else await start(readConfig(process.env), performance.now())
  } catch (error) {
    const said = asStartupError(error)
    if (said instanceof ConfigError || (said as { isPlain?: boolean }).isPlain)
      console.error((said as Error).message)
    else console.error(said)
    process.exit(1)
  }
}

function misused(what: string): void {
  console.error(`${what}; see "dealwright --help".`)
  process.exitCode = 2
}

/** The first signal ends the command and leaves nothing behind; a second one ends it at once. */
async function run(
  command: (options: CommandOptions) => Promise<string>,
  config: Config,
  file: string,
): Promise<void> {
  const stopped = new AbortController()
  const { signal } = stopped
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      if (signal.aborted) process.exit(1)
      stopped.abort()
    })
  }
  const place = { databaseUrl: config.databaseUrl, dataDir: resolve(config.dataDir) }
  try {
    console.log(
      await command({ place, file, now: new Date(), progress: progress(), log: console.error, signal }),
    )
  } catch (error) {
    if (!signal.aborted) throw error
    console.error('Stopped; nothing was left behind.')
    process.exitCode = 1
  }
}

async function start(config: Config, startedAt: number): Promise<void> {
  // There is nothing to end yet. But process 1 of a container ignores every signal that it has no handler
  // for.
  let stop = async () => {}
  stopOn(['SIGINT', 'SIGTERM'], () => stop())
  const dataDir = resolve(config.dataDir)
  const log = pino({ ...logOptions, level: config.logLevel }, pino.destination(2))
  const say = (line: string) => log.warn(line)
  whenNpmIsGone(() => {
    say('npm, which started the service, is gone: the service stops too.')
    process.kill(process.pid, 'SIGTERM')
  })
  const db = await openDatabase({
    ...(config.databaseUrl ? { url: config.databaseUrl } : { dataDir }),
    log: say,
  })
  await migrate(db)
  await requireFolding(db)
  const { token, keptIn } = await firstStart(db, {
    now: new Date(),
    sampleData: config.sampleData,
    ...(config.token ? { presetToken: config.token } : {}),
    file: tokenFile(dataDir, say),
    createSample,
  })
  const copies = config.databaseUrl ? null : await offerCopies(db, dataDir, say)
  if (copies)
    void removeLeftCopies(dataDir).catch(error =>
      say(`What a backup left in ${dataDir} could not be removed: ${error}`),
    )
  const maxConnections = connectionsWithin(config.maxConnections, db.filesMax, say)
  const app = buildApp({ db, now: () => new Date(), log, limits: { ...config, maxConnections } })
  const url = await listen(app, config)
  stop = async () => {
    setTimeout(() => app.server.closeAllConnections(), finishWithinMs).unref()
    // If something hangs: the embedded engine recovers at the next start.
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await app.close()
    copies?.close()
    await db.close()
  }
  console.log(
    welcome({ url, token, keptIn, config, dataDir, seconds: (performance.now() - startedAt) / 1000 }),
  )
}

async function listen(app: FastifyInstance, { port, host }: Config): Promise<string> {
  try {
    return await app.listen({ port, host })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EADDRINUSE'
        ? 'another program listens there; set PORT to another, or to 0 for any free one'
        : code
    throw new ConfigError(`Can't listen on ${host}, port ${port}: ${reason}.`)
  }
}

type Welcome = {
  url: string
  /** as made by this start */
  token: string | null
  keptIn: string | null
  config: Config
  dataDir: string
  seconds: number
}

/** A token is shown by the start that made it, and never again (D119). */
function welcome({ url, token, keptIn, config, dataDir, seconds }: Welcome): string {
  const data = config.databaseUrl
    ? `PostgreSQL at ${new URL(config.databaseUrl).host}`
    : `${dataDir}, embedded PostgreSQL`
  const kept = keptIn && `kept in ${keptIn}`
  const where = config.token
    ? 'the one in DEALWRIGHT_TOKEN'
    : (kept ?? 'not kept here; if it is lost, set DEALWRIGHT_TOKEN to a new one')
  const shell = config.token ? '$DEALWRIGHT_TOKEN' : keptIn ? `$(cat '${keptIn}')` : '$TOKEN'
  return [
    '',
    `  Dealwright is ready at ${url} (${token ? 'first start' : 'start'} in ${seconds.toFixed(1)} s)`,
    '',
    `  Token   ${token ?? where}`,
    ...(token && kept ? [`          ${kept}`] : []),
    `  Data    ${data}`,
    '  Stop    Ctrl+C',
    '',
    `  Try     curl -H "Authorization: Bearer ${shell}" "${url}/rest/api/v1/deal/view/list?pageSize=3"`,
    '',
  ].join('\n')
}

/** The first signal stops cleanly, a second one at once. */
function stopOn(signals: readonly NodeJS.Signals[], stop: () => Promise<void>): void {
  let stopping = false
  for (const signal of signals) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      stop().then(
        () => process.exit(0),
        error => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}
