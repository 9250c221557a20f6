/**
 * Responses: the envelope of success (D1) and problem+json for refusals (D2, RFC 9457). Records pass through
 * as the text that the database built.
 */
import { STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { errorTable, Refusal, type Warning } from '../errors.ts'
import type { ListRequest } from '../lists/list-request.ts'
import type { Page } from '../lists/page.ts'
import { etagOf } from '../records/precondition.ts'
import type { Read } from '../records/read.ts'
import type { Saved, SavedSecret } from '../records/write/operation.ts'

export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** an array is sent piece by piece, a stream as it comes */
  readonly body: string | Buffer | readonly Uint8Array[] | Readable
}

/**
 * Responses hold one caller's data. So no cache may store them, and no browser may render them as a page,
 * embed them or load anything from them.
 */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** `{"code":0,"data":…}` around JSON text, or around pieces of it in UTF-8. */
export function okAnswer(
  data: string | readonly Uint8Array[],
  meta: object | null = null,
  status = 200,
  headers: Record<string, string> = {},
): Answer {
  const [before, after] = ['{"code":0,"data":', `${meta ? `,"meta":${JSON.stringify(meta)}` : ''}}`]
  const body =
    typeof data === 'string' ? before + data + after : [Buffer.from(before), ...data, Buffer.from(after)]
  return { status, headers, body }
}

export function deletedAnswer(id: number): Answer {
  return okAnswer(JSON.stringify({ id, deleted: true }))
}

export function recordAnswer(
  { version, record, warnings = [], created = [] }: Pick<Saved, 'version' | 'record'> & Partial<Saved>,
  status = 200,
): Answer {
  const meta = { ...(warnings.length ? { warnings } : {}), ...(created.length ? { created } : {}) }
  return okAnswer(record, Object.keys(meta).length ? meta : null, status, { etag: etagOf(version) })
}

/**
 * The response for a record that was read. If it may change without a new version, its ETag says so.
 */
export function readAnswer({ version, record, isMoved }: Read<string | Buffer>): Answer {
  const etag = isMoved ? etagOfText(version, record) : etagOf(version)
  return okAnswer(typeof record === 'string' ? record : [record], null, 200, { etag })
}

/** The ETag of a text that may change without a new version: "3.1843" (D89). If-Match takes it, too. */
export function etagOfText(version: number, text: string | Buffer): string {
  return etagOf(`${version}.${crc32(text) || 1}`)
}

export function createdAnswer(saved: Saved, path: string): Answer {
  const answer = recordAnswer(saved, 201)
  return { ...answer, headers: { ...answer.headers, location: `${path}/${saved.id}` } }
}

/** The saved record with its secret as a member. Without a secret, a warning says so with `message`. */
export function withSecret({ secret, ...saved }: SavedSecret, field: string, message: string): Saved {
  const record = `${saved.record.slice(0, -1)},"${field}":${JSON.stringify(secret)}}`
  const shownOnce: Warning[] = secret === null ? [{ field, code: 'shown_once', message }] : []
  return { ...saved, record, warnings: [...saved.warnings, ...shownOnce] }
}

export function pageAnswer(page: Page, request: ListRequest): Answer {
  const { total, totalIsEstimate, hasMore, nextCursor } = page
  const meta = {
    // A cursor doesn't know the number of its page.
    page: request.cursor ? null : request.page,
    pageSize: request.pageSize,
    total,
    totalIsEstimate,
    totalPages: total === null ? null : Math.ceil(total / request.pageSize),
    hasMore,
    nextCursor,
  }
  // The database's bytes, with the envelope around.
  return okAnswer([Buffer.from('['), ...page.records, Buffer.from(']')], meta)
}

/**
 * An error as problem+json. An error that is no Refusal is a fault of the service: the response says no more
 * than that.
 */
export function problemAnswer(error: unknown, requestId: string): Answer & { readonly body: string } {
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal('internal', 'The request failed. The log has it under this request id.')
  const { slug, problems: errors, headers, message: detail } = refusal
  const { code, status, title } = errorTable[slug]
  const body = { type: `/docs/errors#${slug}`, title, status, detail, code, errors, requestId }
  const all = { 'content-type': 'application/problem+json', ...(status === 401 ? challenge : {}), ...headers }
  return { status, headers: all, body: JSON.stringify(body) }
}

const challenge = { 'www-authenticate': 'Bearer realm="dealwright"' }

/** A response as the bytes of HTTP/1.1, for a connection whose request could not be parsed. */
export function rawAnswer({ status, headers, body }: ReturnType<typeof problemAnswer>): string {
  const all = { ...securityHeaders, ...headers, 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value].flat().map(one => `${name}: ${one}\r\n`),
  )
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
