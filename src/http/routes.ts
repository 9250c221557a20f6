/**
 * All routes of the service, in one list. The route objects are in the files of their families: each with its
 * scope (D38; start-up fails without one) and its operation in the OpenAPI document (D90).
 */
import type { Callers } from '../accounts/callers.ts'
import type { SignIn } from '../accounts/sign-in/sign-in.ts'
import type { Database } from '../db/open.ts'
import type { Subscribers } from '../history/subscribers.ts'
import { pipelineMoves, stageMoves } from '../resources/deals/move.ts'
import { ownerMoves } from '../resources/hand-over.ts'
import { within } from '../waiting/timeout.ts'
import type { BackgroundJobs } from '../work/background/background-jobs.ts'
import type { JobWorker } from '../work/jobs/worker.ts'
import type { WebhookWorker } from '../work/webhooks/worker.ts'
import { refusingParameters } from './parameters.ts'
import type { Readable, Route } from './route.ts'
import { accountRoutes } from './routes/account.ts'
import { authorizationRoutes } from './routes/authorizations.ts'
import { calendarRoute } from './routes/calendar.ts'
import { feedRoute, undoRoute } from './routes/events.ts'
import { exportLimits, exportRoute } from './routes/export.ts'
import { fieldRoutes } from './routes/field-routes.ts'
import { inboxRoutes } from './routes/inbox.ts'
import { jobRoutes } from './routes/job-routes.ts'
import type { OpenId } from './routes/openid.ts'
import { type RecordOperation, type RecordService, recordRoutes } from './routes/record-routes.ts'
import { reportRoutes } from './routes/reports.ts'
import { searchRoute } from './routes/search.ts'
import { serviceRoutes } from './routes/service-routes.ts'
import { sessionRoutes } from './routes/session-routes.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { undoSeveralRoute } from './routes/undo-several.ts'
import { webhookChange, webhookRoutes } from './routes/webhooks.ts'

/** Dependencies of the routes. */
export type RouteParts = {
  readonly db: Database
  readonly callers: Callers
  readonly jobs: BackgroundJobs
  readonly subscribers: Subscribers
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
  const { db, callers, jobs, subscribers, signIn, openId, retentionDays, now, worker, jobWorker, say } = parts
  /** Waits up to a second for the background jobs that follow; most accounts have finished them by then. */
  const onConfigurationChange = async (account: number) => {
    callers.forget(account)
    await within(jobs.wake(account), 1000, () => {})
  }
  const limits = exportLimits(say)
  const records = (resource: Readable, more: More = {}) => [
    ...recordRoutes(resource, { db, resource, onConfigurationChange, retentionDays, ...more }, more.without),
    exportRoute(db, resource, limits),
    ...reportRoutes(db, resource),
  ]
  const webhooks = { db, worker, now }
  const all: readonly Route[] = [
    ...records('deal'),
    ...records('product'),
    ...records('contact'),
    ...records('company'),
    ...records('activity'),
    ...records('user', { planMoves: ownerMoves }),
    ...records('role'),
    ...records('token', { without: keepsSecret }),
    ...tokenRoutes(db),
    ...webhookRoutes(
      webhooks,
      records('webhook', { writeOptionsOf: webhookChange(webhooks), without: keepsSecret }),
    ),
    ...records('view'),
    ...records('territory'),
    ...records('tag'),
    ...records('pipeline', { planMoves: pipelineMoves }),
    ...records('pipeline_stage', { planMoves: stageMoves }),
    // The currencies are all of ISO 4217: none can be created or deleted.
    ...records('currency', { without: ['create', 'remove', 'restore', 'getBy', 'upsert'] }),
    ...accountRoutes(db, onConfigurationChange),
    calendarRoute({ db, callers, now }),
    searchRoute(db),
    feedRoute({ db, callers, subscribers }),
    undoRoute(db, retentionDays),
    undoSeveralRoute(db, retentionDays),
    ...inboxRoutes(db),
    ...jobRoutes({ db, worker: jobWorker }),
    ...fieldRoutes({ db, callers, jobs, retentionDays }),
    ...authorizationRoutes({ db, worker }),
    ...sessionRoutes({ db, callers, signIn }, openId),
    ...serviceRoutes(db, () => table),
  ]
  const table = all.map(refusingParameters)
  return table
}

/** A resource's additions to the common routes, and the operations that it lacks. */
type More = Pick<RecordService, 'planMoves' | 'writeOptionsOf'> & {
  readonly without?: readonly RecordOperation[]
}

/** A creation returns a secret, so it has a route of its own; a deletion is final. */
const keepsSecret: readonly RecordOperation[] = ['create', 'restore', 'getBy', 'upsert']
