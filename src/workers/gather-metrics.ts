/** The metrics of the workers, gathered by their supervisor (D167). Knows no library of metrics. */
import cluster, { type Worker } from 'node:cluster'
import type { MetricsJson } from '../metrics/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Of a worker that takes longer, the metrics of the last time are taken. */
const withinMs = 2_000

export type Gathered = {
  /** The metrics of each worker that has sent some. */
  readAll(): Promise<MetricsJson[]>
  /** Calls `act` with the last metrics of a worker, once it has ended. */
  onEnd(act: (last: MetricsJson) => void): void
}

export function gatherMetrics(tell: (worker: Worker, message: ToWorker) => void): Gathered {
  const ready = new Set<Worker>()
  const last = new Map<Worker, MetricsJson>()
  const waiting = new Map<number, { readonly pending: Set<Worker>; readonly done: () => void }>()
  let requests = 0
  const settle = (worker: Worker, request: number | null) => {
    for (const [asked, { pending, done }] of waiting) {
      if (request === null || request === asked) pending.delete(worker)
      if (pending.size === 0) done()
    }
  }
  cluster.on('message', (worker, message: FromWorker) => {
    if (message.kind === 'ready') ready.add(worker)
    if (message.kind !== 'metrics') return
    last.set(worker, message.metrics)
    settle(worker, message.request)
  })
  // Its last messages come before. Its exit may be seen sooner.
  cluster.on('disconnect', worker => {
    ready.delete(worker)
    settle(worker, null)
  })
  return {
    async readAll() {
      const request = ++requests
      const pending = new Set(ready)
      await new Promise<void>(resolve => {
        const late = setTimeout(resolve, withinMs)
        const done = () => {
          clearTimeout(late)
          resolve()
        }
        waiting.set(request, { pending, done })
        for (const worker of pending) tell(worker, { kind: 'metrics', request })
        if (pending.size === 0) done()
      })
      waiting.delete(request)
      return [...last.values()]
    },
    onEnd(act) {
      cluster.on('disconnect', worker => {
        const told = last.get(worker)
        last.delete(worker)
        if (told) act(told)
      })
    },
  }
}
