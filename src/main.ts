/** The entry: settings, database, first start, HTTP; what a person needs to know on the terminal; a clean end. */
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { firstStart } from './accounts/first-start.ts'
import { createSample } from './accounts/sample.ts'
import { keepToken, readToken } from './accounts/token-file.ts'
import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { migrate } from './db/migrate.ts'
import { type Database, openDatabase } from './db/open.ts'
import { logOptions } from './log.ts'

/** A supervisor waits some time between SIGTERM and SIGKILL. */
const stopWithinMs = 14_000

export async function main(): Promise<void> {
  try {
    await start(readConfig(process.env), performance.now())
  } catch (error) {
    if (error instanceof ConfigError || (error as { isPlain?: boolean }).isPlain) console.error((error as Error).message)
    else console.error(error)
    process.exit(1)
  }
}

async function start(config: Config, startedAt: number): Promise<void> {
  const dataDir = resolve(config.dataDir)
  const log = pino({ ...logOptions, level: config.logLevel }, pino.destination(2))
  const say = (line: string) => log.warn(line)
  const db = await openDatabase({ ...(config.databaseUrl ? { url: config.databaseUrl } : { dataDir }), log: say })
  await migrate(db)
  const sampleData = config.sampleData
  const first = await firstStart(db, {
    now: new Date(),
    sampleData,
    ...(config.token ? { presetToken: config.token } : {}),
    createSample,
  })
  if (first.token) await keepToken(dataDir, first.token)
  const app = buildApp({ db, now: () => new Date(), log, limits: config })
  const url = await listen(app, config)
  stopOn(['SIGINT', 'SIGTERM'], async () => {
    // Whatever hangs: what is not done by then is ended, and the embedded engine recovers at the next start.
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await app.close()
    await db.close()
  })
  const token = first.token ?? config.token ?? (await readToken(dataDir))
  console.log(
    welcome({ url, token, config, dataDir, db, isFirst: first.token !== null, seconds: (performance.now() - startedAt) / 1000 }),
  )
}

async function listen(app: FastifyInstance, { port, host }: Config): Promise<string> {
  try {
    return await app.listen({ port, host })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'another program listens there; set PORT to another, or to 0 for any free one' : code
    throw new ConfigError(`Can't listen on ${host}, port ${port}: ${reason}.`)
  }
}

type Welcome = {
  url: string
  token: string | null
  config: Config
  dataDir: string
  db: Database
  isFirst: boolean
  seconds: number
}

function welcome({ url, token, config, dataDir, db, isFirst, seconds }: Welcome): string {
  const data = config.databaseUrl ? new URL(config.databaseUrl).host : join(dataDir, '(embedded PostgreSQL)')
  const lines = [
    '',
    `  Dealwright is ready at ${url} (${isFirst ? 'first start' : 'start'} in ${seconds.toFixed(1)} s)`,
    '',
    `  Token   ${token ?? 'made at the first start and not kept here; use that one'}`,
    `  Data    ${data} · ${db.engine}`,
    '  Stop    Ctrl+C',
    '',
  ]
  if (token) {
    lines.push('  Try     curl -H "Authorization: Bearer $TOKEN" ' + `"${url}/rest/api/v1/deal/view/list?pageSize=3"`, '')
  }
  return lines.join('\n')
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
