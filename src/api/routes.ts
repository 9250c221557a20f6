/** Every route of the service, written out (D38: each with its scope; start-up fails without one). */
import type { Callers } from '../accounts/callers.ts'
import type { BackgroundJobs } from '../administration/background-jobs.ts'
import type { Database } from '../db/open.ts'
import { movePipeline, moveStage } from '../deals/move.ts'
import { queryBytesMax, queryTooLarge } from '../list/parameters.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { handOver } from '../users/hand-over.ts'
import { dealAggregate } from './aggregate.ts'
import { type Answer, errorsPage } from './answer.ts'
import type { BodyLimit } from './body.ts'
import { type FieldService, fieldHandlers } from './fields.ts'
import { dropdownValues, fieldList, form } from './metadata.ts'
import { type OpenId, openIdHandlers } from './openid.ts'
import { type RecordService, recordHandlers } from './records.ts'
import type { ApiRequest, GuestRequest } from './request.ts'
import { type SessionService, sessionHandlers, signInLimit } from './sessions.ts'
import { tokenHandlers } from './tokens.ts'

type Readable =
  | 'deal'
  | 'product'
  | 'contact'
  | 'company'
  | 'user'
  | 'role'
  | 'token'
  | 'territory'
  | 'tag'
  | 'pipeline'
  | 'pipeline_stage'
  | 'currency'

export type Scope = `${Readable | 'field'}:${'read' | 'write'}`

export type Handler = (request: ApiRequest) => Promise<Answer>

type Path = { readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly url: string }

/** A route of an account's data: it takes a token with its scope. */
export type AccountRoute = Path & {
  /** `any`: every caller may ask */
  readonly scope: Scope | 'admin' | 'any'
  readonly handler: Handler
  /** set when it is smaller than that of other bodies */
  readonly bodyLimit?: BodyLimit
}

/** A route without a token and without a body. */
export type PublicRoute = Path & { readonly scope: 'public'; readonly handler: () => Promise<Answer> }

export type GuestHandler = (request: GuestRequest) => Promise<Answer>

/** A route by which somebody signs in: without a token, counted for its address. */
export type GuestRoute = Path & {
  readonly scope: 'public'
  readonly guest: GuestHandler
  readonly bodyLimit: BodyLimit
}

export type Route = AccountRoute | PublicRoute | GuestRoute

export function routes(
  db: Database,
  callers: Callers,
  jobs: BackgroundJobs,
  retentionDays: number,
  signIn: SignIn,
  openId: OpenId | null,
): readonly Route[] {
  /** A request waits a little for the background jobs after it: in most accounts they are done by then. */
  const configured = async (account: number) => {
    callers.forget(account)
    await Promise.race([jobs.wake(account), new Promise(resolve => setTimeout(resolve, 1000).unref())])
  }
  const records = (resource: Readable, move?: RecordService['move']) =>
    recordRoutes(resource, { db, resource, configured, retentionDays, ...(move ? { move } : {}) })
  return [
    ...records('deal'),
    { method: 'GET', url: '/rest/api/v1/deal/aggregate', scope: 'deal:read', handler: dealAggregate(db) },
    ...records('product'),
    ...records('contact'),
    ...records('company'),
    ...records('user', handOver),
    ...records('role'),
    // A revoked token is not restored, and making one answers a secret (tokenRoutes).
    ...records('token').filter(
      ({ method, url }) => (method !== 'POST' || url.endsWith('/list')) && !url.includes('/by/'),
    ),
    ...tokenRoutes(db),
    ...records('territory'),
    ...records('tag'),
    ...records('pipeline', movePipeline),
    ...records('pipeline_stage', moveStage),
    // All of ISO 4217 are there: a currency is neither made nor deleted.
    ...records('currency').filter(
      ({ method, url }) =>
        url.endsWith('/list') || (['GET', 'PUT', 'PATCH'].includes(method) && !url.includes('/by/')),
    ),
    ...fieldRoutes({ db, callers, jobs, retentionDays }),
    ...sessionRoutes({ db, callers, signIn }, openId),
    ...publicRoutes(db),
  ]
}

/** Making or rotating a token answers a secret, so these have routes of their own. */
function tokenRoutes(db: Database): AccountRoute[] {
  const { create, rotate, me } = tokenHandlers(db)
  return [
    { method: 'POST', url: '/rest/api/v1/token', scope: 'token:write', handler: create },
    { method: 'POST', url: '/rest/api/v1/token/:id/rotate', scope: 'token:write', handler: rotate },
    { method: 'GET', url: '/rest/api/v1/me', scope: 'any', handler: me },
  ]
}

/** Who signs in, and with what (D61). */
function sessionRoutes(service: SessionService, openId: OpenId | null): Route[] {
  const { me } = tokenHandlers(service.db)
  const session = sessionHandlers(service)
  const provider = openIdHandlers(service.signIn, openId)
  const base = '/rest/api/v1'
  const guest = { scope: 'public', bodyLimit: signInLimit } as const
  return [
    { ...guest, method: 'POST', url: `${base}/session`, guest: session.signIn },
    { ...guest, method: 'GET', url: `${base}/session/openid`, guest: provider.begin },
    { ...guest, method: 'GET', url: `${base}/session/openid/callback`, guest: provider.end },
    { method: 'GET', url: `${base}/session`, scope: 'any', handler: me },
    { method: 'DELETE', url: `${base}/session`, scope: 'any', handler: session.signOut },
    { method: 'GET', url: `${base}/session/list`, scope: 'any', handler: session.list },
    { method: 'DELETE', url: `${base}/session/:id`, scope: 'any', handler: session.end },
    { method: 'PUT', url: `${base}/me/password`, scope: 'any', handler: session.changePassword },
    { method: 'POST', url: `${base}/user/:id/link`, scope: 'admin', handler: session.createLink },
  ]
}

const queryLimit: BodyLimit = { bytes: queryBytesMax, refusal: queryTooLarge }

/** The same paths for every resource (the interface's Endpoints, D32, D37). */
function recordRoutes(resource: Readable, service: RecordService): AccountRoute[] {
  const { create, list, search, get, update, remove, restore, getBy, upsert } = recordHandlers(service)
  const by = `/rest/api/v1/${resource}/by/:field/:value`
  const [read, write] = [`${resource}:read`, `${resource}:write`] as const
  return [
    { method: 'POST', url: `/rest/api/v1/${resource}`, scope: write, handler: create },
    { method: 'GET', url: `/rest/api/v1/${resource}/view/list`, scope: read, handler: list },
    {
      method: 'POST',
      url: `/rest/api/v1/${resource}/view/list`,
      scope: read,
      handler: search,
      bodyLimit: queryLimit,
    },
    { method: 'GET', url: by, scope: read, handler: getBy },
    { method: 'PUT', url: by, scope: write, handler: upsert },
    { method: 'GET', url: `/rest/api/v1/${resource}/:id`, scope: read, handler: get },
    { method: 'PUT', url: `/rest/api/v1/${resource}/:id`, scope: write, handler: update },
    { method: 'PATCH', url: `/rest/api/v1/${resource}/:id`, scope: write, handler: update },
    { method: 'DELETE', url: `/rest/api/v1/${resource}/:id`, scope: write, handler: remove },
    { method: 'POST', url: `/rest/api/v1/${resource}/:id/restore`, scope: write, handler: restore },
  ]
}

/** Fields, their options, and the forms that show them (D33 to D36). */
function fieldRoutes(service: FieldService): AccountRoute[] {
  const field = fieldHandlers(service)
  const dropdown = dropdownValues(service.db)
  const [read, write] = ['field:read', 'field:write'] as const
  const [one, option] = ['/rest/api/v1/field/:id', '/rest/api/v1/field/:id/option/:option']
  return [
    { method: 'GET', url: '/rest/api/v1/field/list', scope: read, handler: fieldList },
    { method: 'GET', url: '/rest/api/v1/field/dropdown', scope: read, handler: dropdown },
    { method: 'GET', url: '/rest/api/v1/field/form', scope: read, handler: form },
    { method: 'PUT', url: '/rest/api/v1/field/form', scope: write, handler: field.arrange },
    { method: 'POST', url: '/rest/api/v1/field', scope: write, handler: field.create },
    { method: 'GET', url: one, scope: read, handler: field.get },
    { method: 'PUT', url: one, scope: write, handler: field.update },
    { method: 'PATCH', url: one, scope: write, handler: field.update },
    { method: 'DELETE', url: one, scope: write, handler: field.remove },
    { method: 'POST', url: `${one}/restore`, scope: write, handler: field.restore },
    { method: 'POST', url: `${one}/option`, scope: write, handler: field.createOption },
    { method: 'PUT', url: option, scope: write, handler: field.updateOption },
    { method: 'PATCH', url: option, scope: write, handler: field.updateOption },
    { method: 'DELETE', url: option, scope: write, handler: field.removeOption },
  ]
}

/** For people, and for the programs that watch the service. */
function publicRoutes(db: Pick<Database, 'ready'>): PublicRoute[] {
  const alive: Answer = { status: 200, body: '{"status":"alive"}' }
  const ready: Answer = { status: 200, body: '{"status":"ready"}' }
  const notReady: Answer = { status: 503, body: '{"status":"not ready"}' }
  return [
    { method: 'GET', url: '/docs/errors', scope: 'public', handler: async () => errorsPage() },
    { method: 'GET', url: '/healthz', scope: 'public', handler: async () => alive },
    {
      method: 'GET',
      url: '/readyz',
      scope: 'public',
      handler: async () => ((await db.ready()) ? ready : notReady),
    },
  ]
}
