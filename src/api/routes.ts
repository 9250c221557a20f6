/** Every route of the service, written out (D38: each with its scope; start-up fails without one). */
import type { Directory } from '../accounts/directory.ts'
import type { Upkeep } from '../administration/upkeep.ts'
import type { Database } from '../db/open.ts'
import { movePipeline, moveStage } from '../deals/move.ts'
import { queryBytesMax, queryTooLarge } from '../list/parameters.ts'
import { dealAggregate } from './aggregate.ts'
import { type Answer, errorsPage } from './answer.ts'
import type { BodyLimit } from './body.ts'
import { fieldHandlers } from './fields.ts'
import { dropdownValues, fieldList, form } from './metadata.ts'
import { type Around, recordHandlers } from './records.ts'
import type { ApiRequest } from './request.ts'

type Readable =
  | 'deal'
  | 'product'
  | 'contact'
  | 'company'
  | 'user'
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
  readonly scope: Scope
  readonly handler: Handler
  /** where it is less than for any body */
  readonly bodyLimit?: BodyLimit
}

/** A route that anybody may ask, without a body. */
export type PublicRoute = Path & { readonly scope: 'public'; readonly handler: () => Promise<Answer> }

export type Route = AccountRoute | PublicRoute

export function routes(
  db: Database,
  directory: Directory,
  upkeep: Upkeep,
  retentionDays: number,
): readonly Route[] {
  const field = fieldHandlers(db, directory, upkeep, retentionDays)
  /**
   * What follows from a change of configuration is waited for a little: in most accounts it is done by then.
   */
  const configured = async (account: number) => {
    directory.forget(account)
    await Promise.race([upkeep.wake(account), new Promise(resolve => setTimeout(resolve, 1000).unref())])
  }
  const records = (resource: Readable, move?: Around['move']) =>
    recordRoutes(db, resource, { configured, retentionDays, ...(move ? { move } : {}) })
  return [
    ...records('deal'),
    { method: 'GET', url: '/rest/api/v1/deal/aggregate', scope: 'deal:read', handler: dealAggregate(db) },
    ...records('product'),
    ...records('contact'),
    ...records('company'),
    ...records('user'),
    ...records('territory'),
    ...records('tag'),
    ...records('pipeline', movePipeline),
    ...records('pipeline_stage', moveStage),
    // All of ISO 4217 are there: a currency is neither made nor deleted.
    ...records('currency').filter(
      ({ method, url }) => ['GET', 'PUT', 'PATCH'].includes(method) || url.endsWith('/list'),
    ),

    { method: 'GET', url: '/rest/api/v1/field/list', scope: 'field:read', handler: fieldList },
    { method: 'GET', url: '/rest/api/v1/field/dropdown', scope: 'field:read', handler: dropdownValues(db) },

    { method: 'GET', url: '/rest/api/v1/field/form', scope: 'field:read', handler: form },
    { method: 'PUT', url: '/rest/api/v1/field/form', scope: 'field:write', handler: field.arrange },
    { method: 'POST', url: '/rest/api/v1/field', scope: 'field:write', handler: field.create },
    { method: 'GET', url: '/rest/api/v1/field/:id', scope: 'field:read', handler: field.get },
    { method: 'PUT', url: '/rest/api/v1/field/:id', scope: 'field:write', handler: field.update },
    { method: 'PATCH', url: '/rest/api/v1/field/:id', scope: 'field:write', handler: field.update },
    { method: 'DELETE', url: '/rest/api/v1/field/:id', scope: 'field:write', handler: field.remove },
    { method: 'POST', url: '/rest/api/v1/field/:id/restore', scope: 'field:write', handler: field.restore },
    {
      method: 'POST',
      url: '/rest/api/v1/field/:id/option',
      scope: 'field:write',
      handler: field.createOption,
    },
    {
      method: 'PUT',
      url: '/rest/api/v1/field/:id/option/:option',
      scope: 'field:write',
      handler: field.updateOption,
    },
    {
      method: 'PATCH',
      url: '/rest/api/v1/field/:id/option/:option',
      scope: 'field:write',
      handler: field.updateOption,
    },
    {
      method: 'DELETE',
      url: '/rest/api/v1/field/:id/option/:option',
      scope: 'field:write',
      handler: field.removeOption,
    },

    { method: 'GET', url: '/docs/errors', scope: 'public', handler: async () => errorsPage() },
    {
      method: 'GET',
      url: '/healthz',
      scope: 'public',
      handler: async () => ({ status: 200, body: '{"status":"alive"}' }),
    },
    {
      method: 'GET',
      url: '/readyz',
      scope: 'public',
      handler: async () =>
        (await db.ready())
          ? { status: 200, body: '{"status":"ready"}' }
          : { status: 503, body: '{"status":"not ready"}' },
    },
  ]
}

const queryLimit: BodyLimit = { bytes: queryBytesMax, refusal: queryTooLarge }

/** The same paths for every resource (the interface's Endpoints, D32, D37). */
function recordRoutes(db: Database, resource: Readable, around: Around): AccountRoute[] {
  const { create, list, search, get, update, remove, restore } = recordHandlers(db, resource, around)
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
    { method: 'GET', url: `/rest/api/v1/${resource}/:id`, scope: read, handler: get },
    { method: 'PUT', url: `/rest/api/v1/${resource}/:id`, scope: write, handler: update },
    { method: 'PATCH', url: `/rest/api/v1/${resource}/:id`, scope: write, handler: update },
    { method: 'DELETE', url: `/rest/api/v1/${resource}/:id`, scope: write, handler: remove },
    { method: 'POST', url: `/rest/api/v1/${resource}/:id/restore`, scope: write, handler: restore },
  ]
}
