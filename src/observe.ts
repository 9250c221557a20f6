/** The operator's view of a running service: its access log, and its metrics and traces where wanted. */
import { tmpdir } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { ageOfOldest } from './accounts/everywhere.ts'
import type { Config } from './config.ts'
import type { Database, Log } from './db/open.ts'
import { type MetricsServer, serveMetrics } from './http/metrics-server.ts'
import type { Observers, RequestObserver } from './http/observe-requests.ts'
import { ConfigError } from './setting-values.ts'
import type { Traces } from './tracing/tracing.ts'
import type { Gathered } from './workers/gather-metrics.ts'
import type { Membership } from './workers/worker.ts'

export type Observation = Observers & {
  /** where the metrics are; null without them */
  readonly metricsAt: string | null
  /** reads figures of the service from now on */
  watch(app: FastifyInstance): void
  stop(): Promise<void>
}

type Observed = {
  readonly db: Database
  readonly version: string
  readonly dataDir: string
  readonly log: Log
  readonly own: Membership
}

/** Throws ConfigError if the port of the metrics can't be listened on. */
export async function observe(config: Config, observed: Observed): Promise<Observation> {
  const logs = config.logRequests ? accessLog() : null
  const metrics = config.metricsPort === null ? null : await measure(config, observed)
  const traces = await tracesOf(config, observed)
  return {
    observers: [logs?.observe, metrics?.observe].filter(one => one !== undefined),
    ...{ metricsAt: metrics?.place ?? null, traces },
    watch: app => metrics?.watch(app),
    async stop() {
      await traces?.stop()
      await metrics?.close()
      logs?.flush()
    },
  }
}

async function tracesOf({ traces }: Config, { version, log }: Observed): Promise<Traces | null> {
  if (!traces) return null
  // Loaded only where it is wanted, like the metrics.
  const { openTraces } = await import('./tracing/tracing.ts')
  return openTraces(traces, version, log)
}

/** One JSON line a request on standard error, whatever LOG_LEVEL is. It has no path, header or value. */
function accessLog(): { observe: RequestObserver; flush(): void } {
  const destination = pino.destination({ dest: 2, sync: false })
  const log = pino({ base: { pid: process.pid } }, destination)
  return {
    observe({ id, method, route, status, ms, address, account, user, token, trace }) {
      const rounded = Math.round(ms * 10) / 10
      const who = { address, account, user, token }
      log.info({ request: id, method, route, status, ms: rounded, ...who, trace }, 'request')
    },
    flush: () => destination.flushSync(),
  }
}

async function measure(
  { metricsPort: port, metricsHost: host, databaseUrl, backups }: Config,
  { db, version, dataDir, own }: Observed,
) {
  // Loaded only where it is wanted: it costs the start some milliseconds.
  const { openMetrics } = await import('./metrics/metrics.ts')
  let app: FastifyInstance | undefined
  const metrics = openMetrics(version, db.engine, {
    connections: () =>
      new Promise((resolve, reject) => {
        if (!app) return resolve(0)
        app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    databaseBytes: () => db.bytes(),
    oldestDelivery: () =>
      ageOfOldest(db.background, { table: 'webhook_delivery', since: 'created_at', state: 'waiting' }),
    oldestJob: () => ageOfOldest(db.background, { table: 'job', since: 'begun_at', state: 'running' }),
    directories: {
      temporary: tmpdir(),
      ...(databaseUrl ? {} : { data: dataDir }),
      ...(backups ? { backups: backups.directory } : {}),
    },
  })
  // The supervisor of several workers serves those of all.
  own.answerMetrics(metrics.json)
  try {
    const server = own.isAlone ? await serveMetrics(metrics, { port: port!, host }) : null
    return {
      observe: metrics.observe as RequestObserver,
      place: server?.place ?? null,
      watch(watched: FastifyInstance) {
        app = watched
      },
      async close() {
        await server?.close()
        metrics.stop()
      },
    }
  } catch (error) {
    throw unlistened(port, error)
  }
}

/** Serves the metrics of several processes; null if they are not wanted. */
export async function serveAllMetrics(
  { metricsPort: port, metricsHost: host }: Config,
  { readAll, onEnd }: Gathered,
): Promise<MetricsServer | null> {
  if (port === null) return null
  const { allMetrics } = await import('./metrics/all-metrics.ts')
  const metrics = allMetrics(readAll)
  onEnd(metrics.keep)
  return serveMetrics(metrics, { port, host }).catch(error => {
    throw unlistened(port, error)
  })
}

function unlistened(port: Config['metricsPort'], error: unknown): ConfigError {
  const { code } = error as NodeJS.ErrnoException
  return new ConfigError(`METRICS_PORT: can't listen on ${port}: ${code}. Set it to another, or to 0.`)
}
