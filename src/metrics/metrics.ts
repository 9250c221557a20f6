/**
 * The metrics of this process in OpenMetrics (D150). Owns their names, help and labels. No label has an
 * account, an id or a path. Knows what it measures only from diagnostics and from functions that read a
 * figure.
 */
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { subscribe } from '../diagnostics.ts'
import { gauges, type Readings } from './readings.ts'

export type { Readings }

/** The metrics of a process, as prom-client tells them. */
export type MetricsJson = readonly MetricObjectWithValues<MetricValue<string>>[]

export const contentType = Registry.OPENMETRICS_CONTENT_TYPE

export type MeasuredRequest = {
  /** template of the route, or the group of requests without a route of their own */
  readonly route: string
  readonly method: string
  readonly status: number
  readonly ms: number
}

export type Metrics = {
  readonly contentType: string
  observe(request: MeasuredRequest): void
  /** All metrics as text. A figure that can't be read is left out, and counted. */
  text(): Promise<string>
  /** All metrics for the sum over several processes (all-metrics.ts). */
  json(): Promise<MetricsJson>
  stop(): void
}

/** Upper bounds in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const waitBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]
const commitBuckets = [1, 2, 4, 8, 16, 32, 64]

/** Begins to measure. `version` is the program's own. */
export function openMetrics(version: string, engine: string, readings: Readings): Metrics {
  const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>()
  registry.setContentType(contentType)
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  new Gauge({
    name: 'dealwright_build_info',
    help: 'The version of the program, its database engine and its Node.js; the value is 1.',
    aggregator: 'max',
    labelNames: ['version', 'engine', 'node'],
    registers,
  }).set({ version, engine, node: process.versions.node }, 1)
  const requests = new Histogram({
    name: 'dealwright_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response.',
    labelNames: ['route', 'method', 'status'],
    buckets: requestBuckets,
    registers,
  })
  const stopReading = gauges(registry, readings)
  const subscriptions = [...queues(registers), ...events(registers), ...backups(registers)]
  return {
    contentType: registry.contentType,
    observe({ route, method, status, ms }) {
      requests.observe({ route, method, status: `${Math.floor(status / 100)}xx` }, ms / 1000)
    },
    text: () => registry.metrics(),
    json: async () => (await registry.getMetricsAsJSON()) as MetricsJson,
    stop() {
      for (const unsubscribe of subscriptions) unsubscribe()
      stopReading()
      registry.clear()
    },
  }
}

type Registers = Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>[]

function queues(registers: Registers): (() => void)[] {
  const waiting = new Gauge({
    name: 'dealwright_queue_waiting',
    help: 'Callers that wait in a queue now.',
    labelNames: ['queue'],
    registers,
  })
  const waits = new Histogram({
    name: 'dealwright_queue_wait_seconds',
    help: 'How long callers waited in a queue. Those that did not have to wait are not counted.',
    labelNames: ['queue'],
    buckets: waitBuckets,
    registers,
  })
  const refusals = new Counter({
    name: 'dealwright_quota_refusals_total',
    help: 'Requests refused because an account had its share of a resource.',
    labelNames: ['quota'],
    registers,
  })
  const writes = new Histogram({
    name: 'dealwright_commit_writes',
    help: 'Writes that shared a commit.',
    buckets: commitBuckets,
    registers,
  })
  const replicaReads = new Counter({
    name: 'dealwright_replica_reads_total',
    help: 'Reads that the replica answered, or the primary in its place, by what became of them there.',
    labelNames: ['outcome'],
    registers,
  })
  return [
    subscribe('wait-begun', ({ queue }) => waiting.inc({ queue })),
    subscribe('wait-ended', ({ queue, ms }) => {
      waiting.dec({ queue })
      waits.observe({ queue }, ms / 1000)
    }),
    subscribe('quota-refusal', ({ quota }) => refusals.inc({ quota })),
    subscribe('commit', ({ writes: count }) => writes.observe(count)),
    subscribe('replica-read', ({ outcome }) => replicaReads.inc({ outcome })),
  ]
}

function events(registers: Registers): (() => void)[] {
  const restarts = new Counter({
    name: 'dealwright_engine_restarts_total',
    help: 'Failures of the embedded engine, after each of which it is opened again.',
    registers,
  })
  const connections = new Counter({
    name: 'dealwright_connection_refusals_total',
    help: 'Connections refused before a route saw their request.',
    labelNames: ['error'],
    registers,
  })
  const signIns = new Counter({
    name: 'dealwright_sign_in_refusals_total',
    help: 'Sign-ins that were refused.',
    labelNames: ['error'],
    registers,
  })
  const followers = new Gauge({
    name: 'dealwright_feed_followers',
    help: 'Requests that wait for the next event of their account.',
    registers,
  })
  const attempts = new Histogram({
    name: 'dealwright_webhook_attempt_duration_seconds',
    help: 'Time of an attempt to deliver an event to a webhook.',
    labelNames: ['outcome'],
    buckets: requestBuckets,
    registers,
  })
  return [
    subscribe('engine-restart', ({ isOpen }) => isOpen || restarts.inc()),
    subscribe('connection-refusal', ({ error }) => connections.inc({ error })),
    subscribe('sign-in-refusal', ({ error }) => signIns.inc({ error })),
    subscribe('followers', ({ change }) => followers.inc(change)),
    subscribe('webhook-attempt', ({ outcome, ms }) => attempts.observe({ outcome }, ms / 1000)),
  ]
}

function backups(registers: Registers): (() => void)[] {
  const verified = new Gauge({
    name: 'dealwright_backup_verified_timestamp_seconds',
    help: 'Time of the newest backup by schedule that was verified; 0: none yet.',
    aggregator: 'max',
    registers,
  })
  const bytes = new Gauge({
    name: 'dealwright_backup_bytes',
    help: 'Size of the newest backup by schedule that was verified.',
    aggregator: 'max',
    registers,
  })
  const failures = new Counter({
    name: 'dealwright_backup_failures_total',
    help: 'Backups by schedule that failed, or that could not be restored.',
    registers,
  })
  return [
    subscribe('backup', message => {
      if (message.outcome === 'failed') return failures.inc()
      verified.set(message.at / 1000)
      bytes.set(message.bytes)
    }),
  ]
}
