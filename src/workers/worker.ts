/**
 * This process as one of several workers (D167): tells its supervisor that it is ready, shares counts with
 * the other workers, and learns whether it leads. Without a supervisor a process leads, and shares nothing.
 */
import cluster from 'node:cluster'
import type { MetricsJson } from '../metrics/metrics.ts'
import { ownCounts, type SharedCounts, sharedCounts } from '../waiting/shared-counts.ts'
import type { Ready } from '../welcome.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** How long a count of this process stays unknown to the others. */
const countsEveryMs = 50

export type Membership = {
  readonly counts: SharedCounts
  /** Calls `act` once this process does what one does for all; at once if it is alone. */
  whenLeading(act: () => void): void
  readonly isAlone: boolean
  /** True if it is alone, or the first worker, whose text is shown */
  readonly isFirst: boolean
  /** Answers requests for metrics, and tells the last ones when it leaves. */
  answerMetrics(read: () => Promise<MetricsJson>): void
  /** Tells the supervisor that it is ready; calls `act` if there is none. */
  ready(what: Ready, act: (what: Ready) => void): void
  /**
   * Is called when the process listens no longer, while figures can still be read. Resolves when no
   * connection can come any more.
   */
  leave(): Promise<void>
  /** A signal that comes while the process stops. */
  readonly onSecondSignal: () => void
}

const alone: Membership = {
  counts: ownCounts,
  whenLeading: act => act(),
  isAlone: true,
  isFirst: true,
  answerMetrics() {},
  ready: (what, act) => act(what),
  leave: async () => {},
  onSecondSignal: () => process.exit(1),
}

/** The membership of this process. `orphaned` is called when the supervisor is gone. */
export function membership(orphaned: () => void): Membership {
  if (!cluster.isWorker) return alone
  const worker = cluster.worker!
  /** A supervisor that is gone takes nothing; `orphaned` follows. */
  const send = (message: FromWorker) =>
    new Promise<void>(resolve => {
      if (process.connected) process.send!(message, undefined, undefined, () => resolve())
      else resolve()
    })
  const counts = sharedCounts(added => void send({ kind: 'counts', added }), countsEveryMs)
  const waiting: (() => void)[] = []
  let isLeading = false
  let readMetrics: (() => Promise<MetricsJson>) | null = null
  const tellMetrics = async (request: number | null) => {
    const metrics = await readMetrics?.().catch(() => null)
    if (metrics) await send({ kind: 'metrics', request, metrics })
  }
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'counts') counts.take(message.added)
    else if (message.kind === 'metrics') {
      void tellMetrics(message.request)
    } else if (message.kind === 'lead') {
      isLeading = true
      for (const act of waiting.splice(0)) act()
    }
  })
  worker.once('disconnect', () => {
    // Without this, Node.js ends the process at once, with its requests in flight.
    worker.exitedAfterDisconnect = true
    orphaned()
  })
  // It is for the supervisor. A terminal sends it to every process.
  process.on('SIGHUP', () => {})
  return {
    counts,
    whenLeading: act => (isLeading ? act() : waiting.push(act)),
    isAlone: false,
    isFirst: worker.id === 1,
    answerMetrics(read) {
      readMetrics = read
    },
    ready: what => void send({ kind: 'ready', what }),
    async leave() {
      await tellMetrics(null)
      const left = new Promise<void>(resolve => {
        process.on('message', ({ kind }: ToWorker) => kind === 'left' && resolve())
        worker.once('disconnect', () => resolve())
      })
      await send({ kind: 'leaving' })
      if (process.connected) await left
    },
    // Ctrl+C reaches each process, and the supervisor tells each to stop. It kills a worker that doesn't.
    onSecondSignal() {},
  }
}
