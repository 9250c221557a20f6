/** A service of several processes (D167) from its start to its end: signals, terminal and metrics. */
import { pino } from 'pino'
import type { Config } from './config.ts'
import { freePort } from './http/free-port.ts'
import type { MetricsServer } from './http/metrics-server.ts'
import { logOptions } from './log.ts'
import { serveAllMetrics } from './observe.ts'
import { stopWithNpm } from './parent.ts'
import { stopOn } from './stop-on.ts'
import { welcome } from './welcome.ts'
import { gatherMetrics } from './workers/gather-metrics.ts'
import { Supervisor, tell } from './workers/supervisor.ts'

/** Starts the workers, and resolves when they are ready. `isJson`: output is for a program. */
export async function supervise(config: Config, isJson: boolean): Promise<void> {
  const log = pino({ ...logOptions, level: config.logLevel }, pino.destination(2))
  const say = (line: string) => log.warn(line)
  // If there is none, a worker says why.
  const port = config.port || (await freePort(config.host).catch(() => 0))
  const supervisor = new Supervisor({ count: config.workers, port, say })
  let metrics: MetricsServer | null = null
  const stop = async () => {
    await supervisor.stop()
    await metrics?.close()
  }
  stopOn(['SIGINT', 'SIGTERM'], stop, () => {
    supervisor.kill()
    process.exit(1)
  })
  process.on('SIGHUP', () => {
    supervisor.restart().catch(error => say(`The restart failed: ${error}`))
  })
  stopWithNpm(say)
  metrics = await serveAllMetrics(config, gatherMetrics(tell))
  const first = await supervisor.start()
  if (supervisor.isStopping) return
  if (!first) process.exit(1)
  console.log(welcome({ ...first, config, metricsAt: metrics?.place ?? null }, isJson))
}
