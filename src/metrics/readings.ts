/**
 * Gauges whose figures are read when they are asked for: of the database, of disks, of open connections. A
 * figure that costs time is remembered, so that scrapes take at most a hundredth of the database's time.
 */
import { statfs } from 'node:fs/promises'
import { Counter, Gauge, type Registry } from 'prom-client'

/** Functions that read a figure. */
export type Readings = {
  /** open connections of clients */
  connections(): Promise<number>
  /** bytes of the database */
  databaseBytes(): Promise<number>
  /** age in seconds of the oldest event that a webhook still waits for; 0: none */
  oldestDelivery(): Promise<number>
  /** age in seconds of the oldest running job; 0: none */
  oldestJob(): Promise<number>
  /** what a directory is for → its path */
  readonly directories: { readonly [name: string]: string }
}

/** Shortest time between two readings of the database. */
const rememberMs = 10_000

type OpenMetrics = Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>

/**
 * Adds the gauges. Of several processes the figures of what they share are one, and others are summed
 * (all-metrics.ts). Returns the function that ends the readings.
 */
export function gauges(registry: OpenMetrics, readings: Readings): () => void {
  const registers = [registry]
  let isStopped = false
  const failures = new Counter({
    name: 'dealwright_metric_failures_total',
    help: 'Figures that could not be read for a scrape.',
    registers,
  })
  const add = (name: string, help: string, read: () => Promise<number>, aggregator: 'max' | 'sum') => {
    new Gauge({
      ...{ name, help, aggregator },
      registers,
      async collect() {
        try {
          if (!isStopped) this.set(await read())
        } catch {
          this.reset()
          this.remove()
          failures.inc()
        }
      },
    })
  }
  add('dealwright_http_connections', 'Open connections of clients.', readings.connections, 'sum')
  add('dealwright_database_bytes', 'Size of the database.', seldom(readings.databaseBytes), 'max')
  add(
    'dealwright_webhook_oldest_delivery_seconds',
    'Age of the oldest event that a webhook still waits for; 0 if there is none.',
    seldom(readings.oldestDelivery),
    'max',
  )
  add(
    'dealwright_job_oldest_seconds',
    'Age of the oldest running job; 0 if there is none.',
    seldom(readings.oldestJob),
    'max',
  )
  new Gauge({
    name: 'dealwright_disk_free_bytes',
    help: 'Space that the disk of a directory has left for this process.',
    aggregator: 'max',
    labelNames: ['directory'],
    registers,
    async collect() {
      for (const [directory, path] of Object.entries(readings.directories)) {
        try {
          const { bavail, bsize } = await statfs(path)
          this.set({ directory }, bavail * bsize)
        } catch {
          this.remove({ directory })
          failures.inc()
        }
      }
    },
  })
  return () => {
    isStopped = true
  }
}

/** The function with its result remembered for ten seconds, or a hundred times as long as it took. */
function seldom(read: () => Promise<number>): () => Promise<number> {
  let last: Promise<number> | undefined
  let until = 0
  return () => {
    if (last && performance.now() < until) return last
    const begun = performance.now()
    until = Number.POSITIVE_INFINITY
    const reading = read()
    last = reading
    const note = () => {
      const now = performance.now()
      until = now + Math.max(rememberMs, 100 * (now - begun))
    }
    reading.then(note, () => {
      note()
      last = undefined
    })
    return reading
  }
}
