/** Refusals of the service as exceptions. Every problem of the request is in `problems`. */
import type { Schemas } from './schemas.ts'

export type Problem = Schemas['problem_item']

/** A refusal of the service, or an answer of a proxy before it. */
export class DealwrightError extends Error {
  override name = 'DealwrightError'
  /** the HTTP status */
  readonly status: number
  /** the error's number in /docs/errors; 0 if a proxy answered */
  readonly code: number
  readonly problems: readonly Problem[]
  /** id of the request in the service's log */
  readonly requestId: string | null
  /** seconds to wait before a retry (Retry-After) */
  readonly retryAfter: number | null
  /** the whole answer; null if it was not JSON */
  readonly body: Partial<Schemas['problem']> | null

  constructor(response: Response, body: Partial<Schemas['problem']> | null) {
    const problems = body?.errors ?? []
    const detail = body?.detail ?? `The service answered ${response.status}.`
    super(
      [detail, ...problems.map(({ message, hint }) => [message, hint].filter(Boolean).join(' '))].join('\n'),
    )
    this.status = response.status
    this.code = body?.code ?? 0
    this.problems = problems
    this.requestId = body?.requestId ?? response.headers.get('x-request-id')
    this.retryAfter = secondsOf(response.headers.get('retry-after'))
    this.body = body
  }
}

/** 400 and the like: the request could not be read. */
export class MalformedRequest extends DealwrightError {
  override name = 'MalformedRequest'
}
/** 401: the token is missing, has ended or was revoked. */
export class Unauthenticated extends DealwrightError {
  override name = 'Unauthenticated'
}
/** 403: the token or its user may not do this. */
export class Forbidden extends DealwrightError {
  override name = 'Forbidden'
}
/** 404: no such record, or none that the caller sees. */
export class NotFound extends DealwrightError {
  override name = 'NotFound'
}
/** 409: the value is taken, the record is in use or busy. */
export class Conflict extends DealwrightError {
  override name = 'Conflict'
}
/** 412: the record has changed since it was read. `problems` say in which fields. */
export class VersionConflict extends DealwrightError {
  override name = 'VersionConflict'
}
/** 422: the record was not saved. `problems` has everything that is wrong with it. */
export class ValidationFailed extends DealwrightError {
  override name = 'ValidationFailed'
}
/** 429: too many requests, also after the retries. */
export class RateLimited extends DealwrightError {
  override name = 'RateLimited'
}
/** 408 and 503: the service is unavailable or too slow, also after the retries. */
export class Unavailable extends DealwrightError {
  override name = 'Unavailable'
}

const classes: { readonly [status: number]: typeof DealwrightError } = {
  400: MalformedRequest,
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  405: MalformedRequest,
  406: MalformedRequest,
  408: Unavailable,
  409: Conflict,
  412: VersionConflict,
  413: MalformedRequest,
  415: MalformedRequest,
  422: ValidationFailed,
  429: RateLimited,
  431: MalformedRequest,
  503: Unavailable,
}

/** The exception for an answer that is no success. */
export function errorOf(response: Response, text: string): DealwrightError {
  const kind = classes[response.status] ?? DealwrightError
  return new kind(response, problemOf(text))
}

function problemOf(text: string): Partial<Schemas['problem']> | null {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' ? body : null
  } catch {
    return null
  }
}

function secondsOf(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null
}
