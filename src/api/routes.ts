/**
 * Every route of the service, written out: each with its scope (D38; start-up fails without one) and with
 * what the OpenAPI document says of it (D90).
 */
import type { Callers } from '../accounts/callers.ts'
import type { BackgroundJobs } from '../administration/background-jobs.ts'
import type { Database } from '../db/open.ts'
import { pipelineMoves, stageMoves } from '../deals/move.ts'
import type { Followers } from '../events/followers.ts'
import type { JobWorker } from '../jobs/worker.ts'
import type { About } from '../openapi/about.ts'
import type { Queryable } from '../records/store.ts'
import { followScope } from '../rights/scopes.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { ownerMoves } from '../users/hand-over.ts'
import type { WebhookWorker } from '../webhooks/worker.ts'
import { accountRoutes } from './account.ts'
import type { Answer } from './answer.ts'
import { boardRoute } from './board.ts'
import { docsHandler } from './docs.ts'
import { withDryRun } from './dry-run.ts'
import { feedAbout } from './event-abouts.ts'
import { feedHandler } from './events.ts'
import { exportLimits, exportRoute } from './export.ts'
import { fieldAbouts } from './field-abouts.ts'
import { fieldHandlers, withoutNewIds } from './fields.ts'
import { funnelRoute } from './funnel.ts'
import { jobRoutes } from './job-routes.ts'
import { meHandlers } from './me.ts'
import { dropdownValues, fieldList, form } from './metadata.ts'
import { openApiHandler } from './openapi.ts'
import { type OpenId, openIdHandlers } from './openid.ts'
import { searchAbout, tokenAbouts } from './record-abouts.ts'
import type { RecordService } from './record-routes.ts'
import { aggregateRoutes, recordRoutes } from './record-routes.ts'
import { type AccountRoute, at, type PublicRoute, type Readable, type Route } from './route.ts'
import { searchHandler } from './search.ts'
import { publicAbouts, sessionAbouts } from './session-abouts.ts'
import { type SessionService, sessionHandlers, signInLimit } from './sessions.ts'
import { tokenHandlers } from './tokens.ts'
import { undoRoute } from './undo.ts'
import { webhookChange, webhookRoutes } from './webhooks.ts'

/** What the routes work with. */
export type RouteParts = {
  readonly db: Database
  readonly callers: Callers
  readonly jobs: BackgroundJobs
  readonly followers: Followers
  readonly signIn: SignIn
  /** null where no provider is set up */
  readonly openId: OpenId | null
  readonly retentionDays: number
  readonly now: () => Date
  readonly worker: WebhookWorker
  readonly jobWorker: JobWorker
  readonly say: (line: string) => void
}

export function routes(parts: RouteParts): readonly Route[] {
  const { db, callers, jobs, followers, signIn, openId, retentionDays, now, worker, jobWorker, say } = parts
  /** A request waits a little for the background jobs after it: in most accounts they are done by then. */
  const configured = async (account: number) => {
    callers.forget(account)
    await Promise.race([jobs.wake(account), new Promise(resolve => setTimeout(resolve, 1000).unref())])
  }
  const limits = exportLimits(say)
  const records = (resource: Readable, more: Pick<RecordService, 'moves' | 'given'> = {}) => [
    ...recordRoutes(resource, { db, resource, configured, retentionDays, ...more }),
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
    // A revoked token is not restored, and making one answers a secret (tokenRoutes).
    ...records('token').filter(
      ({ method, url }) => (method !== 'POST' || url.endsWith('/list')) && !url.includes('/by/'),
    ),
    ...tokenRoutes(db),
    ...webhookRoutes(webhooks, records('webhook', { given: webhookChange(webhooks) })),
    ...records('view'),
    ...records('territory'),
    ...records('tag'),
    ...records('pipeline', { moves: pipelineMoves }),
    ...records('pipeline_stage', { moves: stageMoves }),
    // All of ISO 4217 are there: a currency is neither made nor deleted.
    ...records('currency').filter(
      ({ method, url }) =>
        url.endsWith('/list') || (['GET', 'PUT', 'PATCH'].includes(method) && !url.includes('/by/')),
    ),
    ...accountRoutes(db, configured),
    at('GET', '/rest/api/v1/search', 'any', searchHandler(db), searchAbout),
    {
      ...at('GET', '/rest/api/v1/event', followScope, feedHandler({ db, callers, followers }), feedAbout),
      isStreamed: true,
    },
    undoRoute(db, retentionDays),
    ...jobRoutes({ db, worker: jobWorker }),
    ...fieldRoutes(parts),
    ...sessionRoutes({ db, callers, signIn }, openId),
    ...publicRoutes(db, () => table),
  ]
  return table
}

/** Making or rotating a token answers a secret, so these have routes of their own. */
function tokenRoutes(db: Database): AccountRoute[] {
  const { create, rotate } = withDryRun(db, tokenHandlers)
  const about = tokenAbouts()
  return [
    at('POST', '/rest/api/v1/token', 'token:write', create, about.create),
    at('POST', '/rest/api/v1/token/:id/rotate', 'token:write', rotate, about.rotate),
  ]
}

/** Who signs in, and with what (D61). */
function sessionRoutes(service: SessionService & { readonly db: Database }, openId: OpenId | null): Route[] {
  const me = meHandlers(service.db, service.callers)
  const session = sessionHandlers(service)
  const provider = openIdHandlers(service.signIn, openId)
  const base = '/rest/api/v1'
  const about = sessionAbouts()
  const guest = { scope: 'public', bodyLimit: signInLimit } as const
  return [
    { ...guest, method: 'POST', url: `${base}/session`, guest: session.signIn, about: about.signIn },
    { ...guest, method: 'GET', url: `${base}/session/ways`, guest: provider.ways, about: about.ways },
    { ...guest, method: 'GET', url: `${base}/session/openid`, guest: provider.begin, about: about.begin },
    {
      ...guest,
      method: 'GET',
      url: `${base}/session/openid/callback`,
      guest: provider.end,
      about: about.end,
    },
    at('GET', `${base}/session`, 'any', me.get, about.get),
    at('GET', `${base}/me`, 'any', me.get, about.me),
    at('PATCH', `${base}/me`, 'any', me.change, about.changeMe),
    at('DELETE', `${base}/session`, 'any', session.signOut, about.signOut),
    at('GET', `${base}/session/list`, 'any', session.list, about.list),
    at('DELETE', `${base}/session/:id`, 'any', session.end, about.remove),
    at('PUT', `${base}/me/password`, 'any', session.changePassword, about.changePassword),
    at('POST', `${base}/user/:id/link`, 'admin', session.createLink, about.createLink),
  ]
}

/** Fields, their options, and the forms that show them (D33 to D36). */
function fieldRoutes({ db, callers, jobs, retentionDays }: RouteParts): AccountRoute[] {
  const make = (db: Queryable, isDry = false) =>
    fieldHandlers({
      ...{ db, retentionDays },
      catalogNow: account => callers.catalogNow(account, db),
      configured: account => {
        if (isDry) return
        callers.forget(account)
        void jobs.wake(account)
      },
    })
  const { get } = make(db)
  const field = withDryRun(db, make, withoutNewIds)
  const about = fieldAbouts()
  const dropdown = dropdownValues(db)
  const [read, write] = ['field:read', 'field:write'] as const
  const [one, option] = ['/rest/api/v1/field/:id', '/rest/api/v1/field/:id/option/:option']
  return [
    at('GET', '/rest/api/v1/field/list', read, fieldList, about.list),
    at('GET', '/rest/api/v1/field/dropdown', read, dropdown, about.dropdown),
    at('GET', '/rest/api/v1/field/form', read, form, about.form),
    at('PUT', '/rest/api/v1/field/form', write, field.arrange, about.arrange),
    at('POST', '/rest/api/v1/field', write, field.create, about.create),
    at('GET', one, read, get, about.get),
    at('PUT', one, write, field.update, about.replace),
    at('PATCH', one, write, field.update, about.update),
    at('DELETE', one, write, field.remove, about.remove),
    at('POST', `${one}/restore`, write, field.restore, about.restore),
    at('POST', `${one}/option`, write, field.createOption, about.createOption),
    at('PUT', option, write, field.updateOption, about.replaceOption),
    at('PATCH', option, write, field.updateOption, about.updateOption),
    at('DELETE', option, write, field.removeOption, about.removeOption),
  ]
}

/** For people, and for the programs that watch the service. */
function publicRoutes(db: Pick<Database, 'ready'>, table: () => readonly Route[]): Route[] {
  const about = publicAbouts()
  const docs = docsHandler(table)
  const alive: Answer = { status: 200, body: '{"status":"alive"}' }
  const ready: Answer = { status: 200, body: '{"status":"ready"}' }
  const notReady: Answer = { status: 503, body: '{"status":"not ready"}' }
  const told = (url: string, handler: PublicRoute['handler'], about: About): PublicRoute => {
    return { method: 'GET', url, scope: 'public', handler, about }
  }
  return [
    told('/docs', () => docs(''), about.docs),
    told('/docs/errors', () => docs('errors'), about.errors),
    told('/docs/:name', docs, about.page),
    told('/healthz', async () => alive, about.alive),
    told('/readyz', async () => ((await db.ready()) ? ready : notReady), about.ready),
    {
      ...{ method: 'GET', url: '/openapi.json', scope: 'public', about: about.openApi },
      guest: openApiHandler(table),
      bodyLimit: signInLimit,
      takesToken: true,
    },
  ]
}
