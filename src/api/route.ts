/**
 * What a route is, in one object: its method and path, who may ask, what it does, and its operation, which is
 * what it takes and answers, in the words of the OpenAPI document (D38, D90).
 */
import type { Operation } from '../openapi/operation.ts'
import type { followScope, importScope } from '../rights/scopes.ts'
import type { Answer } from './answer.ts'
import type { BodyLimit } from './body.ts'
import type { ApiRequest, GuestRequest } from './request.ts'

/** What the paths of all data begin with. */
export const base = '/rest/api/v1'

export type Readable =
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

export type Scope =
  | `${Readable | 'field' | 'job'}:${'read' | 'write'}`
  | typeof followScope
  | typeof importScope

export type Handler = (request: ApiRequest) => Promise<Answer>

type Path = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly operation: Operation
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
  /** set where its body is a file, of any size, which the handler reads as it comes: its media types */
  readonly uploads?: readonly string[]
  /** whether it answers a file, whatever media type is asked for */
  readonly isFile?: true
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

/** A route of an account's data. */
export function route(
  method: Path['method'],
  url: string,
  scope: AccountRoute['scope'],
  handler: Handler,
  operation: Operation,
): AccountRoute {
  return { method, url, scope, handler, operation }
}
