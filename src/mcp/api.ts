/**
 * The service as the tools of agents see it: one function that carries out an operation with the rights of
 * the caller. Types only; http/inner-requests.ts implements it.
 */
import type { AuthenticatedCaller } from '../accounts/callers.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Changes } from './changes.ts'

/** A request to a route, which is named by the id of its operation in the OpenAPI document. */
export type Call = {
  readonly operation: string
  /** the id in the path */
  readonly id?: number | string
  readonly query?: { readonly [name: string]: string | readonly string[] | undefined }
  readonly body?: Json
  /** the version that the record must have */
  readonly version?: number
  /** true: everything is judged and nothing is saved (D79) */
  readonly isDry?: boolean
  /** the change of an agent that it is a part of: repeated, it is carried out once (D147) */
  readonly change?: { readonly id: string; readonly part: number }
}

export type Api = {
  readonly caller: AuthenticatedCaller
  readonly now: Date
  /** the origin under which browsers reach the service */
  readonly origin: string
  readonly changes: Changes
  /** The body of the answer. Throws CallRefusal. */
  call(call: Call): Promise<JsonObject>
}

/** The refusal of a request: its problem details (D2). */
export class CallRefusal extends Error {
  readonly status: number
  readonly problem: JsonObject

  constructor(status: number, problem: JsonObject) {
    super(String(problem.detail))
    this.status = status
    this.problem = problem
  }
}
