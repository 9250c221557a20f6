/** The service as a process: start (database, first start, HTTP), terminal output, graceful shutdown. */
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type FirstStartResult, firstStart } from './accounts/first-start.ts'
import { createSample } from './accounts/sample/sample.ts'
import { linkAddress } from './accounts/sign-in/links.ts'
import { tokenFile } from './accounts/token-file.ts'
import { buildApp } from './app.ts'
import { copyAnswers, removeLeftCopies } from './backup/copy.ts'
import { scheduleBackups } from './backup/schedule.ts'
import { commands } from './cli/commands.ts'
import { commandAnswers } from './cli/database.ts'
import { startLink } from './cli/start-link.ts'
import { type BackupSettings, type Config, originOf } from './config.ts'
import { migrate } from './db/migrate.ts'
import { type Database, openDatabase } from './db/open.ts'
import { serverAddress } from './db/postgres/server-address.ts'
import { requireFolding } from './db/require-folding.ts'
import { answerLocally } from './local-socket.ts'
import { logOptions } from './log.ts'
import { observe } from './observe.ts'
import { connectionsWithin } from './open-files.ts'
import { whenNpmIsGone } from './parent.ts'
import { ConfigError, isLoopback, isLoopbackName } from './setting-values.ts'
import { programVersion } from './version.ts'
import type { Interval } from './waiting/interval.ts'
import { exportsMax } from './work/exports/permits.ts'

/**
 * Graceful shutdown: the time for requests in flight, and for the whole stop. Supervisors wait some time
 * before SIGKILL.
 */
const [finishWithinMs, stopWithinMs] = [8_000, 14_000]

type ServeOptions = { readonly startedAt: number; readonly isJson: boolean }

/** Starts the service. `startedAt` is the process's start; `isJson`: output is for a program. */
export async function serve(config: Config, { startedAt, isJson }: ServeOptions): Promise<void> {
  // Nothing needs a shutdown yet. But process 1 of a container ignores every signal without a handler.
  let stop = async () => {}
  stopOn(['SIGINT', 'SIGTERM'], () => stop())
  const dataDir = resolve(config.dataDir)
  const log = pino({ ...logOptions, level: config.logLevel }, pino.destination(2))
  const say = (line: string) => log.warn(line)
  whenNpmIsGone(() => {
    say('npm, which started the service, is gone: the service stops too.')
    process.kill(process.pid, 'SIGTERM')
  })
  const { db, started } = await opened(config, dataDir, say)
  const { retentionDays } = config
  let { port } = config
  const context = () => ({ retentionDays, origin: originOf(config, port) })
  const answers = { ...copyAnswers(db, dataDir), ...commandAnswers(commands, db, context) }
  const socket = config.databaseUrl ? null : await answerLocally(dataDir, answers, say)
  if (socket)
    void removeLeftCopies(dataDir).catch(error =>
      say(`What a backup left in ${dataDir} could not be removed: ${error}`),
    )
  const maxConnections = connectionsWithin(config.maxConnections, db.filesMax + exportsMax, say)
  const observation = await observe(config, { db, version: programVersion(), dataDir })
  const { observers } = observation
  const { publicUrl, corsOrigins, openId, trustedProxies } = config
  const limits = { ...config, maxConnections }
  const webhooks = { allowPrivate: config.webhookAllowPrivate }
  const app = buildApp({
    ...{ db, now: () => new Date(), log, limits, publicUrl, corsOrigins, openId, webhooks },
    ...{ trustedProxies, observers },
  })
  observation.watch(app)
  const url = await listen(app, config)
  port ||= Number(new URL(url).port)
  const signIn = await signInAddress(config, db, url)
  const backups = config.backups && scheduled(config.backups, say)
  stop = async () => {
    setTimeout(() => app.server.closeAllConnections(), finishWithinMs).unref()
    // A safeguard if something hangs: the embedded engine recovers at the next start.
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await Promise.all([app.close(), backups?.stop()])
    await observation.stop()
    socket?.close()
    await db.close()
  }
  const seconds = (performance.now() - startedAt) / 1000
  const { metricsAt } = observation
  console.log(
    (isJson ? jsonWelcome : welcome)({ ...started, url, signIn, metricsAt, config, dataDir, seconds }),
  )
}

function scheduled(settings: BackupSettings, say: (line: string) => void): Interval {
  const program = [process.execPath, join(import.meta.dirname, '../bin/dealwright.js')]
  return scheduleBackups({
    ...settings,
    directory: resolve(settings.directory),
    now: () => new Date(),
    say,
    program,
  })
}

/** A link that signs in once; null if other machines reach the service. */
async function signInAddress({ host, publicUrl }: Config, db: Database, url: string): Promise<string | null> {
  // Behind a proxy the service is public although it listens on loopback, and operators' logs have more
  // readers than a terminal.
  const isForThisMachine = isLoopback(host) && (!publicUrl || isLoopbackName(new URL(publicUrl).hostname))
  const link = isForThisMachine ? await startLink(db) : null
  // The link sets no password: its page asks for none.
  return link && `${linkAddress(publicUrl ?? url, link)}&sign_in`
}

/** The database with its schema and its first account. */
async function opened(
  config: Config,
  dataDir: string,
  log: (line: string) => void,
): Promise<{ db: Database; started: FirstStartResult }> {
  const { databaseUrl, hasOnlyTransactions, pooler } = config
  const place = databaseUrl ? { url: databaseUrl } : { dataDir }
  const db = await openDatabase({ ...place, hasOnlyTransactions, pooler, log })
  await migrate(db)
  await requireFolding(db)
  const started = await firstStart(db, {
    now: new Date(),
    sampleData: config.sampleData,
    ...(config.timeZone ? { timeZone: config.timeZone } : {}),
    ...(config.baseCurrency ? { baseCurrency: config.baseCurrency } : {}),
    ...(config.token ? { presetToken: config.token } : {}),
    file: tokenFile(dataDir, log),
    createSample,
  })
  return { db, started }
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

type Welcome = FirstStartResult & {
  readonly url: string
  /** link that signs in once, for ten minutes; null if other machines reach the service */
  readonly signIn: string | null
  /** where the metrics are; null without them */
  readonly metricsAt: string | null
  readonly config: Config
  readonly dataDir: string
  readonly seconds: number
}

/** Only the start that made a token shows it (D68, D119). */
function welcome(start: Welcome): string {
  const { url, signIn, token, keptIn, isPresetInvalid, metricsAt, config, dataDir, seconds } = start
  const kept = keptIn && `kept in ${keptIn}`
  const lost = 'none is kept here; "npx dealwright token create" makes one'
  const preset = isPresetInvalid
    ? 'DEALWRIGHT_TOKEN is of account 1, which was deleted: it is not valid'
    : 'the one in DEALWRIGHT_TOKEN'
  const shell = config.token ? '$DEALWRIGHT_TOKEN' : keptIn ? `$(cat '${keptIn}')` : '$TOKEN'
  return [
    '',
    `  Dealwright is ready at ${url} (${token ? 'first start' : 'start'} in ${seconds.toFixed(1)} s)`,
    '',
    ...(signIn ? [`  Sign in ${signIn}`, '          once, within ten minutes', ''] : []),
    `  Token   ${token ?? (config.token ? preset : (kept ?? lost))}`,
    ...(token && kept ? [`          ${kept}`] : []),
    '  Lost?   "npx dealwright token create --help": who may run the service can make another',
    `  Data    ${placeOf(config, dataDir)}`,
    ...(metricsAt ? [`  Metrics ${metricsAt}`] : []),
    '  Stop    Ctrl+C',
    '',
    `  Try     curl -H "Authorization: Bearer ${shell}" "${url}/rest/api/v1/deal/view/list?pageSize=3"`,
    '',
  ].join('\n')
}

function jsonWelcome({ url, signIn, token, keptIn, metricsAt, config, dataDir }: Welcome): string {
  return JSON.stringify({
    url,
    sign_in: signIn,
    token,
    token_kept_in: keptIn,
    data: placeOf(config, dataDir),
    metrics: metricsAt,
  })
}

function placeOf({ databaseUrl }: Config, dataDir: string): string {
  return databaseUrl ? serverAddress(databaseUrl).place : `${dataDir}, embedded PostgreSQL`
}

/** The first signal shuts down gracefully, a second one exits at once. */
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
