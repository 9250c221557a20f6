/**
 * All routes of the service, in one list. The route objects are in the files of their families: each with its
 * scope (D38; start-up fails without one) and its operation in the OpenAPI document (D90).
 */
import type { Callers } from '../accounts/callers.ts'
import type { BackgroundJobs } from '../administration/background-jobs.ts'
import type { Database } from '../db/open.ts'
import { pipelineMoves, stageMoves } from '../deals/move.ts'
import type { Followers } from '../events/followers.ts'
import type { JobWorker } from '../jobs/worker.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { ownerMoves } from '../users/hand-over.ts'
import { within } from '../waiting/timeout.ts'
import type { WebhookWorker } from '../webhooks/worker.ts'
import { accountRoutes } from './account.ts'
import { aggregateRoutes } from './aggregate.ts'
import { boardRoute } from './board.ts'
import { feedRoute, undoRoute } from './event-routes.ts'
import { exportLimits, exportRoute } from './export.ts'
import { fieldRoutes } from './field-routes.ts'
import { funnelRoute } from './funnel.ts'
import { jobRoutes } from './job-routes.ts'
import type { OpenId } from './openid.ts'
import { type RecordOperation, type RecordService, recordRoutes } from './record-routes.ts'
import type { Readable, Route } from './route.ts'
import { searchRoute } from './search.ts'
import { serviceRoutes } from './service-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { tokenRoutes } from './tokens.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { webhookChange } from './webhooks.ts'

/** Dependencies of the routes. */
export type RouteParts = {
  readonly db: Database
  readonly callers: Callers
  readonly jobs: BackgroundJobs
  readonly followers: Followers
  readonly signIn: SignIn
  /** null without a provider */
  readonly openId: OpenId | null
  readonly retentionDays: number
  readonly now: () => Date
  readonly worker: WebhookWorker
  readonly jobWorker: JobWorker
  readonly say: (line: string) => void
}

export function routes(parts: RouteParts): readonly Route[] {
  const { db, callers, jobs, followers, signIn, openId, retentionDays, now, worker, jobWorker, say } = parts
  /** Waits up to a second for the background jobs that follow: in most accounts they are done by then. */
  const configured = async (account: number) => {
    callers.forget(account)
    await within(jobs.wake(account), 1000, () => {})
  }
  const limits = exportLimits(say)
  const records = (resource: Readable, more: More = {}) => [
    ...recordRoutes(resource, { db, resource, configured, retentionDays, ...more }, more.without),
    exportRoute(db, resource, limits),
  ]
  const webhooks = { db, worker, now }
  const table: readonly Route[] = [
    ...records('deal'),
    ...aggregateRoutes(db, 'deal'),
    boardRoute(db),
    funnelRoute(db),
    ...records('product'),
    ...aggregateRoutes(db, 'product'),
    ...records('contact'),
    ...records('company'),
    ...records('activity'),
    ...records('user', { moves: ownerMoves }),
    ...records('role'),
    ...records('token', { without: keepsSecret }),
    ...tokenRoutes(db),
    ...webhookRoutes(webhooks, records('webhook', { given: webhookChange(webhooks), without: keepsSecret })),
    ...records('view'),
    ...records('territory'),
    ...records('tag'),
    ...records('pipeline', { moves: pipelineMoves }),
    ...records('pipeline_stage', { moves: stageMoves }),
    // The currencies are all of ISO 4217: none can be created or deleted.
    ...records('currency', { without: ['create', 'remove', 'restore', 'getBy', 'upsert'] }),
    ...accountRoutes(db, configured),
    searchRoute(db),
    feedRoute({ db, callers, followers }),
    undoRoute(db, retentionDays),
    ...jobRoutes({ db, worker: jobWorker }),
    ...fieldRoutes({ db, callers, jobs, retentionDays }),
    ...sessionRoutes({ db, callers, signIn }, openId),
    ...serviceRoutes(db, () => table),
  ]
  return table
}

/** A resource's additions to the common routes, and the operations that it lacks. */
type More = Pick<RecordService, 'moves' | 'given'> & { readonly without?: readonly RecordOperation[] }

/** A creation returns a secret, so it has a route of its own; a deletion is final. */
const keepsSecret: readonly RecordOperation[] = ['create', 'restore', 'getBy', 'upsert']
