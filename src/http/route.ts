/**
 * A route in one object: method and path, required scope, handler, and its operation in the OpenAPI document
 * (D38, D90).
 */
import type { directScope, followScope, importScope } from '../rights/scopes.ts'
import type { Answer } from './answer.ts'
import type { BodyLimit } from './body.ts'
import type { Operation } from './openapi/operation.ts'
import type { AnonymousRequest, ApiRequest } from './request.ts'

/** The common prefix of all data's paths. */
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
  | typeof directScope

export type Handler = (request: ApiRequest) => Promise<Answer>

type Path = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly operation: Operation
}

/** A route to an account's data: it requires a token or session with its scope. */
export type AccountRoute = Path & {
  /** `any`: open to every caller */
  readonly scope: Scope | 'admin' | 'any'
  readonly handler: Handler
  /** limit of the body, if smaller than the general one */
  readonly bodyLimit?: BodyLimit
  /** true if server-sent events are available, too */
  readonly isStreamed?: true
  /** media types of an upload of any size, which the handler streams */
  readonly uploads?: readonly string[]
  /** true if the response is a file, whatever Accept says */
  readonly isFile?: true
}

/** A route without token and body. */
export type PublicRoute = Path & {
  readonly scope: 'public'
  /** takes the last segment of the path, if there is one */
  readonly handler: (name: string) => Promise<Answer>
  /** true if a browser gets the web UI at this address */
  readonly isPage?: true
}

export type AnonymousHandler = (request: AnonymousRequest) => Promise<Answer>

/** A route without a known caller, such as sign-in; it counts for the address. */
export type AnonymousRoute = Path & {
  readonly scope: 'public'
  readonly anonymousHandler: AnonymousHandler
  readonly bodyLimit: BodyLimit
  /** true if a token makes the sender a caller */
  readonly takesToken?: true
  /** true if the response is a file, whatever Accept says */
  readonly isFile?: true
}

export type Route = AccountRoute | PublicRoute | AnonymousRoute

export function route(
  method: Path['method'],
  url: string,
  scope: AccountRoute['scope'],
  handler: Handler,
  operation: Operation,
): AccountRoute {
  return { method, url, scope, handler, operation }
}
