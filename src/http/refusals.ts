/**
 * The refusals that no handler makes: for headers, and for errors of the HTTP library and the database, in
 * the service's own words. Knows no resource.
 */
import type { FastifyRequest } from 'fastify'
import { databaseRefusal } from '../db/refusal.ts'
import { Refusal } from '../errors.ts'
import { weightsOf } from './http-encoding.ts'

/** The refusal for an error; null if the error is a fault of the service. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  const { code, status } = error as { code?: string; status?: number }
  // From a file of the web UI.
  if (status === 412)
    return new Refusal('version_conflict', 'The file has changed. Send the request without If-Match.')
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'Send the body as "Content-Type: application/json".')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Refusal('malformed_path', 'A part of the path is too long.')
    case 'FST_ERR_BAD_URL':
      return new Refusal('malformed_path', 'The path has a broken percent-encoding.')
  }
  return databaseRefusal(error)
}

/** The media ranges of an Accept header → false where the weight is 0: that is not acceptable (RFC 9110). */
function rangesOf(accept: string): ReadonlyMap<string, boolean> {
  return new Map([...weightsOf(accept.split(','))].map(([range, weight]) => [range, weight !== 0]))
}

/** True if JSON is acceptable: the most specific range decides. */
function acceptsJson(accept: string): boolean {
  const ranges = rangesOf(accept)
  const isOther = [...ranges].some(([type, isTaken]) => isTaken && /^application\/[\w.-]+\+json$/.test(type))
  return (
    ranges.get('application/json') ?? (isOther || (ranges.get('application/*') ?? ranges.get('*/*') ?? false))
  )
}

/** True if a browser asks for a page, not a program for data. */
export function wantsPage({ headers: { accept = '' } }: FastifyRequest): boolean {
  return rangesOf(accept).get('text/html') ?? false
}

/** True if the client wants server-sent events. */
export function wantsStream({ headers: { accept = '' }, method }: FastifyRequest): boolean {
  return method === 'GET' && (rangesOf(accept).get('text/event-stream') ?? false)
}

/** Throws `not_acceptable` if the client accepts no JSON, nor the stream of a route that has one. */
export function refuseOtherThanJson(request: FastifyRequest, isStreamed = false): void {
  const { accept } = request.headers
  if (!accept || acceptsJson(accept)) return
  if (isStreamed && wantsStream(request)) return
  const detail = 'Answers are application/json; send "Accept: application/json" or none.'
  throw new Refusal('not_acceptable', detail)
}
