/** The service's client for the signed-in user: the browser's session cookie identifies the caller. */
import { Dealwright, DealwrightError, type Page, type Schemas } from '../../../client/src/client.ts'
import { createStore } from '../ui/store.ts'
import { toastError } from '../ui/toast.tsx'
import { problemText, warningText } from './problem-text.ts'

// The rest of the UI knows the client by this file.
// biome-ignore lint/performance/noBarrelFile: of one package
export { DealwrightError, VersionConflict } from '../../../client/src/client.ts'
export type { Page, Schemas }

/** A field as the field list describes it. */
export type Field = Schemas['field']
export type FieldType = Field['type']
export type Operator = Field['operators'][number]
/** The signed-in caller: account, user and scopes. */
export type Me = Schemas['caller']

/** A record of any resource: only the field list knows its fields. */
export type AnyRecord = {
  readonly id: number
  readonly version?: number
  readonly deleted_at?: string | null
  /** field → the names behind its ids, for the fields in `expand` */
  readonly _expanded?: Names
  readonly [field: string]: unknown
}

export type Named = { readonly id: number; readonly name: string | null }
export type Names = { readonly [field: string]: Named | readonly Named[] | null }

export const base = '/rest/api/v1'

/**
 * The ids of this page's writes, the newest last, each with its success once that is known: the event of one
 * that succeeded is no news to the page (live.ts).
 */
const ownWrites = new Map<string, Promise<boolean>>()

/** False for a write of others, and for one without an answer: this page does not show that it was done. */
export const isOwnWrite = async (requestId: string | null): Promise<boolean> =>
  requestId !== null && (await ownWrites.get(requestId)) === true

/** Set when the service answers 401: by a read or by a write. */
export const sessionEnded = createStore<false | 'read' | 'write'>(false)

/** An error with a message for people. */
export class UserError extends Error {}

const unreached = () =>
  navigator.onLine === false ? 'You are offline.' : 'The service could not be reached.'

/** The `fetch` of every request. It watches for the end of the session. */
const watchedFetch: typeof fetch = async (input, init) => {
  const isRead = !init?.method || init.method === 'GET'
  const answer = await (isRead ? fetch(input, init) : trackedWrite(input, init))
  const path = String(input)
  // Public paths say nothing of the session.
  const isPublic = /\/(session\/ways|openapi\.json)$|^\/docs/.test(new URL(path, location.origin).pathname)
  if (answer.ok && sessionEnded.get() && !isPublic) sessionEnded.set(false)
  // A wrong password does not end the session.
  if (answer.status === 401 && !/\/(session|password)$/.test(path))
    sessionEnded.set(isRead && sessionEnded.get() !== 'write' ? 'read' : 'write')
  return answer
}

/**
 * Marks a write by a request id, so that its event is recognized. One without an answer may have been carried
 * out.
 */
async function trackedWrite(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const id = crypto.randomUUID()
  const success = Promise.withResolvers<boolean>()
  ownWrites.set(id, success.promise)
  if (ownWrites.size > 500) ownWrites.delete(ownWrites.keys().next().value!)
  const headers = new Headers(init?.headers)
  headers.set('x-request-id', id)
  try {
    const answer = await fetch(input, { ...init, headers })
    success.resolve(answer.ok)
    return answer
  } catch (error) {
    success.resolve(false)
    throw new UserError(`${unreached()} It is not known whether this was done.`, { cause: error })
  }
}

export const api = new Dealwright({
  url: location.origin,
  retries: 2,
  timeoutMs: 30_000,
  fetch: watchedFetch,
})

/** The data of an answer, of a type `T` in the OpenAPI document. Says which sent values were ignored. */
export async function callApi<T>(
  method: string,
  path: string,
  options: Parameters<typeof api.request>[2] = {},
): Promise<T> {
  const resource = path.split(/[/?]/)[1]!
  try {
    const { body } = await api.request(method, `${base}${path}`, options)
    const { data, meta } = body as { data: T; meta?: Schemas['write_meta'] }
    for (const warning of meta?.warnings ?? [])
      if (warning.code === 'read_only') toastError(warningText(warning, resource))
    return data
  } catch (error) {
    if (error instanceof DealwrightError) {
      resources.set(error, resource)
      if (method === 'POST' && path === '/session') signIns.add(error)
    }
    throw error
  }
}

/** Error → the resource of its request, for the labels of the fields. */
const resources = new WeakMap<DealwrightError, string>()

/** The refused sign-ins: their 401 doesn't mean that a session has ended. */
const signIns = new WeakSet<DealwrightError>()

/** True if the session has ended, or there is none. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof DealwrightError && error.status === 401
}

/** The code in /docs/errors. */
const unauthenticated = 3001

/** The message of an error, for people. */
export function errorMessage(error: unknown): string {
  if (error instanceof DealwrightError) {
    // The service's text about tokens is for programs.
    if (error.code === unauthenticated && !signIns.has(error)) return 'Your session has ended. Sign in again.'
    const [first] = error.problems
    return first ? problemText(first, resources.get(error)) : error.message
  }
  return error instanceof UserError ? error.message : unreached()
}

/** All messages about a refused write, a line each. */
export function allErrorMessages(error: unknown): string {
  if (!(error instanceof DealwrightError) || error.problems.length < 2) return errorMessage(error)
  return error.problems.map(problem => problemText(problem, resources.get(error))).join('\n')
}

/**
 * The problems of a refused write by field; `''` has those of no field. A path such as
 * /deal_value/products/0/quantity belongs to its field; `placeOf` may be more exact.
 */
export function problemsByField(
  error: unknown,
  placeOf: (path: readonly string[]) => string | undefined = ([name]) => name,
): { readonly [field: string]: string } {
  if (!(error instanceof DealwrightError)) return { '': errorMessage(error) }
  const byField: { [field: string]: string } = {}
  for (const problem of error.problems) {
    const name = placeOf(problem.path.split('/').slice(1)) || problem.field || ''
    const text = problemText(problem, resources.get(error))
    byField[name] = byField[name] ? `${byField[name]} ${text}` : text
  }
  if (error.problems.length === 0) byField[''] = errorMessage(error)
  return byField
}
