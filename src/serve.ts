/** The service as a process: start (database, first start, HTTP), terminal output, graceful shutdown. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type FirstStartResult, firstStart } from './accounts/first-start.ts'
import { createSample } from './accounts/sample/sample.ts'
import { linkAddress } from './accounts/sign-in/links.ts'
import { tokenFile } from './accounts/token-file.ts'
import { buildApp } from './app.ts'
import { copyAnswers, removeLeftCopies } from './backup/copy.ts'
import { type Schedule, scheduleBackups } from './backup/schedule.ts'
import { commands } from './cli/commands.ts'
import { commandAnswers } from './cli/database.ts'
import { startLink } from './cli/start-link.ts'
import { type BackupSettings, type Config, isForThisMachine, originOf } from './config.ts'
import { requireWhole } from './db/distribution.ts'
import { migrate } from './db/migrate.ts'
import { type Database, openDatabase } from './db/open.ts'
import { readyDatabase } from './db/ready-database.ts'
import { databaseRefusal } from './db/refusal.ts'
import { requireFolding } from './db/require-folding.ts'
import { drainOf } from './http/drain.ts'
import { answerLocally } from './local-socket.ts'
import { logOptions } from './log.ts'
import { observe } from './observe.ts'
import { connectionsWithin } from './open-files.ts'
import { stopWithNpm } from './parent.ts'
import { ConfigError } from './setting-values.ts'
import { stopOn } from './stop-on.ts'
import { programVersion } from './version.ts'
import { within } from './waiting/timeout.ts'
import { welcome } from './welcome.ts'
import { exportsMax } from './work/exports/permits.ts'
import { membership } from './workers/worker.ts'

/**
 * Graceful shutdown: the time for requests in flight, and for the whole stop. Supervisors wait some time
 * before SIGKILL.
 */
const [finishWithinMs, stopWithinMs] = [8_000, 14_000]
/** Commands answer that the service ends. */
const answerWithinMs = 2_000

type ServeOptions = { readonly startedAt: number; readonly isJson: boolean }

/** Starts the service. `startedAt` is the process's start; `isJson`: output is for a program. */
export async function serve(config: Config, { startedAt, isJson }: ServeOptions): Promise<void> {
  // Nothing needs a shutdown yet. But process 1 of a container ignores every signal without a handler.
  let stop = async () => {}
  const own = membership(() => process.kill(process.pid, 'SIGTERM'))
  stopOn(['SIGINT', 'SIGTERM'], () => stop(), own.onSecondSignal)
  const { dataDir } = config
  const log = pino({ ...logOptions, level: config.logLevel }, pino.destination(2))
  const say = (line: string) => log.warn(line)
  stopWithNpm(say)
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
  const share = (connections: number) => Math.ceil(connections / config.workers)
  const limits = {
    ...config,
    maxConnections: connectionsWithin(share(config.maxConnections), db.filesMax + exportsMax, say),
    maxConnectionsPerAddress: share(config.maxConnectionsPerAddress),
  }
  const observation = await observe(config, { db, version: programVersion(), dataDir, own, log: say })
  const { publicUrl, corsOrigins, openId, trustedProxies } = config
  const webhooks = { allowPrivate: config.webhookAllowPrivate }
  const app = buildApp({
    ...{ db, now: () => new Date(), log, limits, publicUrl, corsOrigins, openId, webhooks },
    ...{ trustedProxies, observed: observation, counts: own.counts, whenLeading: own.whenLeading },
  })
  observation.watch(app)
  const drain = drainOf(app)
  const url = await listen(app, config)
  port ||= Number(new URL(url).port)
  const signIn = own.isFirst ? await signInAddress(config, db, url, say) : null
  const backups = config.backups && scheduled(config.backups, say)
  own.whenLeading(() => backups?.begin())
  stop = async () => {
    setTimeout(() => app.server.closeAllConnections(), finishWithinMs).unref()
    // A safeguard if something hangs: the embedded engine recovers at the next start.
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await drain()
    await Promise.all([app.close(), backups?.stop()])
    await own.leave()
    await observation.stop()
    // A command under way answers that its database is closed. A copy for a backup may take longer.
    const answered = socket?.close()
    await db.close()
    await within(Promise.resolve(answered), answerWithinMs, () => {})
  }
  const seconds = (performance.now() - startedAt) / 1000
  own.ready({ ...started, url, signIn, seconds }, ready => {
    console.log(welcome({ ...ready, config, metricsAt: observation.metricsAt }, isJson))
  })
}

function scheduled(settings: BackupSettings, say: (line: string) => void): Schedule {
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
async function signInAddress(
  config: Config,
  db: Database,
  url: string,
  say: (line: string) => void,
): Promise<string | null> {
  // A public service's log has more readers than a terminal.
  const isShown = isForThisMachine(config)
  // The embedded engine may be at work for long; a start waits for it.
  // A database that is slow for a moment doesn't end a service that listens already.
  const link = isShown ? await startLink(db.background).catch(withoutLink(say)) : null
  // The link sets no password: its page asks for none.
  return link && `${linkAddress(config.publicUrl ?? url, link)}&sign_in`
}

function withoutLink(say: (line: string) => void): (error: unknown) => null {
  return error => {
    const refusal = databaseRefusal(error)
    if (!refusal) throw error
    say(`This start shows no link to sign in; the next one makes another. ${refusal.message}`)
    return null
  }
}

/** The database with its schema and its first account. */
async function opened(
  config: Config,
  dataDir: string,
  log: (line: string) => void,
): Promise<{ db: Database; started: FirstStartResult }> {
  const { databaseUrl: url, databaseReadUrl: readUrl, hasOnlyTransactions, pooler } = config
  const ready = url ? null : readyDatabase()
  const template = ready && existsSync(ready) ? ready : undefined
  const db = await openDatabase({ url, readUrl, pooler, dataDir, template, hasOnlyTransactions, log })
  await requireWhole(db)
  await migrate(db, { log })
  await requireFolding(db.background)
  const started = await firstStart(db, {
    now: new Date(),
    sampleData: config.sampleData,
    ...(config.timeZone ? { timeZone: config.timeZone } : {}),
    ...(config.baseCurrency ? { baseCurrency: config.baseCurrency } : {}),
    ...(config.token ? { presetToken: config.token } : {}),
    file: tokenFile(dataDir, log),
    createSample,
  })
  if (started.isNodeAway) log('A node is away ("dealwright nodes" shows which): this start makes no token.')
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
