/** The messages between the workers of a service and their supervisor. Types only. */
import type { MetricsJson } from '../metrics/metrics.ts'
import type { Added } from '../waiting/shared-counts.ts'
import type { Ready } from '../welcome.ts'

export type FromWorker =
  /** it listens */
  | { readonly kind: 'ready'; readonly what: Ready }
  /** it listens no longer; the answer is `left` */
  | { readonly kind: 'leaving' }
  /** it has added to counts that all share */
  | { readonly kind: 'counts'; readonly added: readonly Added[] }
  /** its metrics: the answer to a request for them, or its last ones, which nobody asked for */
  | { readonly kind: 'metrics'; readonly request: number | null; readonly metrics: MetricsJson }

export type ToWorker =
  /** it does what one process does for all */
  | { readonly kind: 'lead' }
  /** no connection is on its way to it any more */
  | { readonly kind: 'left' }
  | { readonly kind: 'counts'; readonly added: readonly Added[] }
  | { readonly kind: 'metrics'; readonly request: number }
