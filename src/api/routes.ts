/**
 * Every route of the service, written out: each with its scope (D38; start-up fails without one) and with
 * what the OpenAPI document says of it (D90).
 */
import type { Callers } from '../accounts/callers.ts'
import type { BackgroundJobs } from '../administration/background-jobs.ts'
import type { Database } from '../db/open.ts'
import { movePipeline, moveStage } from '../deals/move.ts'
import type { Followers } from '../events/followers.ts'
import { queryBytesMax, queryTooLarge } from '../list/parameters.ts'
import type { About } from '../openapi/about.ts'
import { followScope } from '../rights/scopes.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { handOver } from '../users/hand-over.ts'
import type { WebhookWorker } from '../webhooks/worker.ts'
import { aggregateHandler } from './aggregate.ts'
import type { Answer } from './answer.ts'
import { boardRoute } from './board.ts'
import type { BodyLimit } from './body.ts'
import { docsHandler } from './docs.ts'
import { feedAbout } from './event-abouts.ts'
import { feedHandler, historyHandler } from './events.ts'
import { fieldAbouts } from './field-abouts.ts'
import { type FieldService, fieldHandlers } from './fields.ts'
import { funnelRoute } from './funnel.ts'
import { meHandlers } from './me.ts'
import { dropdownValues, fieldList, form } from './metadata.ts'
import { openApiHandler } from './openapi.ts'
import { type OpenId, openIdHandlers } from './openid.ts'
import { aggregateAbouts, recordAbouts, searchAbout, tokenAbouts } from './record-abouts.ts'
import { type RecordService, recordHandlers } from './records.ts'
import type { ApiRequest, GuestRequest } from './request.ts'
import { searchHandler } from './search.ts'
import { publicAbouts, sessionAbouts } from './session-abouts.ts'
import { type SessionService, sessionHandlers, signInLimit } from './sessions.ts'
import { tokenHandlers } from './tokens.ts'
import { webhookChange, webhookRoutes } from './webhooks.ts'

type Readable =
  | 'deal'
  | 'product'
  | 'contact'
  | 'company'
  | 'activity'
  | 'user'
  | 'role'
  | 'token'
  | 'territory'
  | 'tag'
  | 'pipeline'
  | 'pipeline_stage'
  | 'currency'
  | 'webhook'
  | 'view'

export type Scope = `${Readable | 'field'}:${'read' | 'write'}` | typeof followScope

export type Handler = (request: ApiRequest) => Promise<Answer>

type Path = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly about: About
}

/** A route of an account's data: it takes a token with its scope. */
export type AccountRoute = Path & {
  /** `any`: every caller may ask */
  readonly scope: Scope | 'admin' | 'any'
  readonly handler: Handler
  /** set when it is smaller than that of other bodies */
  readonly bodyLimit?: BodyLimit
  /** whether it answers server-sent events, too */
  readonly isStreamed?: true
}

/** A route without a token and without a body. */
export type PublicRoute = Path & {
  readonly scope: 'public'
  /** takes the name that the path ends with, if it does */
  readonly handler: (name: string) => Promise<Answer>
}

export type GuestHandler = (request: GuestRequest) => Promise<Answer>

/** A route of those who are not known, such as sign-in: without a token, counted for its address. */
export type GuestRoute = Path & {
  readonly scope: 'public'
  readonly guest: GuestHandler
  readonly bodyLimit: BodyLimit
  /** whether whoever sends a token is a caller */
  readonly takesToken?: true
}

export type Route = AccountRoute | PublicRoute | GuestRoute

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
}

export function routes(parts: RouteParts): readonly Route[] {
  const { db, callers, jobs, followers, signIn, openId, retentionDays, now, worker } = parts
  /** A request waits a little for the background jobs after it: in most accounts they are done by then. */
  const configured = async (account: number) => {
    callers.forget(account)
    await Promise.race([jobs.wake(account), new Promise(resolve => setTimeout(resolve, 1000).unref())])
  }
  const records = (resource: Readable, more: Pick<RecordService, 'move' | 'given'> = {}) =>
    recordRoutes(resource, { db, resource, configured, retentionDays, ...more })
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
    ...records('user', { move: handOver }),
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
    ...records('pipeline', { move: movePipeline }),
    ...records('pipeline_stage', { move: moveStage }),
    // All of ISO 4217 are there: a currency is neither made nor deleted.
    ...records('currency').filter(
      ({ method, url }) =>
        url.endsWith('/list') || (['GET', 'PUT', 'PATCH'].includes(method) && !url.includes('/by/')),
    ),
    at('GET', '/rest/api/v1/search', 'any', searchHandler(db), searchAbout),
    {
      ...at('GET', '/rest/api/v1/event', followScope, feedHandler({ db, callers, followers }), feedAbout),
      isStreamed: true,
    },
    ...fieldRoutes({ db, callers, jobs, retentionDays }),
    ...sessionRoutes({ db, callers, signIn }, openId),
    ...publicRoutes(db, () => table),
  ]
  return table
}

/** A route of an account's data, as it stands in the table. */
function at(
  method: Path['method'],
  url: string,
  scope: AccountRoute['scope'],
  handler: Handler,
  about: About,
): AccountRoute {
  return { method, url, scope, handler, about }
}

/** Making or rotating a token answers a secret, so these have routes of their own. */
function tokenRoutes(db: Database): AccountRoute[] {
  const { create, rotate } = tokenHandlers(db)
  const about = tokenAbouts()
  return [
    at('POST', '/rest/api/v1/token', 'token:write', create, about.create),
    at('POST', '/rest/api/v1/token/:id/rotate', 'token:write', rotate, about.rotate),
  ]
}

/** Who signs in, and with what (D61). */
function sessionRoutes(service: SessionService, openId: OpenId | null): Route[] {
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

const queryLimit: BodyLimit = { bytes: queryBytesMax, refusal: queryTooLarge }

/** The same paths for every resource (the interface's Endpoints, D32, D37). */
function recordRoutes(resource: Readable, service: RecordService): AccountRoute[] {
  const { create, list, search, get, update, remove, restore, getBy, upsert } = recordHandlers(service)
  const history = historyHandler(service.db, resource, service.retentionDays)
  const about = recordAbouts(resource, service.move !== undefined)
  const by = `/rest/api/v1/${resource}/by/:field/:value`
  const [read, write] = [`${resource}:read`, `${resource}:write`] as const
  return [
    at('POST', `/rest/api/v1/${resource}`, write, create, about.create),
    at('GET', `/rest/api/v1/${resource}/view/list`, read, list, about.list),
    {
      ...at('POST', `/rest/api/v1/${resource}/view/list`, read, search, about.search),
      bodyLimit: queryLimit,
    },
    at('GET', by, read, getBy, about.getBy),
    at('PUT', by, write, upsert, about.upsert),
    at('GET', `/rest/api/v1/${resource}/:id`, read, get, about.get),
    at('PUT', `/rest/api/v1/${resource}/:id`, write, update, about.replace),
    at('PATCH', `/rest/api/v1/${resource}/:id`, write, update, about.update),
    at('DELETE', `/rest/api/v1/${resource}/:id`, write, remove, about.remove),
    at('POST', `/rest/api/v1/${resource}/:id/restore`, write, restore, about.restore),
    at('GET', `/rest/api/v1/${resource}/:id/history`, read, history, about.history),
  ]
}

/** Sums, with their parameters in the address or in the body (D85). */
function aggregateRoutes(db: Database, resource: 'deal' | 'product'): AccountRoute[] {
  const url = `/rest/api/v1/${resource}/aggregate`
  const about = aggregateAbouts(resource)
  const handler = aggregateHandler(db, resource)
  return [
    at('GET', url, `${resource}:read`, handler, about.get),
    { ...at('POST', url, `${resource}:read`, handler, about.post), bodyLimit: queryLimit },
  ]
}

/** Fields, their options, and the forms that show them (D33 to D36). */
function fieldRoutes(service: FieldService): AccountRoute[] {
  const field = fieldHandlers(service)
  const about = fieldAbouts()
  const dropdown = dropdownValues(service.db)
  const [read, write] = ['field:read', 'field:write'] as const
  const [one, option] = ['/rest/api/v1/field/:id', '/rest/api/v1/field/:id/option/:option']
  return [
    at('GET', '/rest/api/v1/field/list', read, fieldList, about.list),
    at('GET', '/rest/api/v1/field/dropdown', read, dropdown, about.dropdown),
    at('GET', '/rest/api/v1/field/form', read, form, about.form),
    at('PUT', '/rest/api/v1/field/form', write, field.arrange, about.arrange),
    at('POST', '/rest/api/v1/field', write, field.create, about.create),
    at('GET', one, read, field.get, about.get),
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
