/** The input of handlers, read from HTTP: caller, parameters, body. Readers refuse malformed input. */
import { isUtf8 } from 'node:buffer'
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AuthenticatedCaller } from '../accounts/callers.ts'
import { Problems, problemAt, Refusal } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { isObject, type Json, JsonLimitError, type JsonObject, parseExactly, pointerStep } from '../json.ts'
import type { Parameters } from '../lists/parameters.ts'
import type { IdempotentRequest } from '../records/idempotency.ts'
import type { Precondition } from '../records/precondition.ts'
import type { Transaction } from '../records/store.ts'
import { workOn } from '../records/work.ts'
import type { RequestWork } from '../records/write/operation.ts'
import type { AgentOrigin } from '../records/write/protocol.ts'
import type { Caller } from '../rights/visibility.ts'
import type { Client } from './client.ts'

export type ApiRequest = {
  readonly caller: AuthenticatedCaller
  /** the caller's secret; never to be logged */
  readonly token: string
  /** The current caller, read from the database. Throws if they lost the right to this request. */
  latestCaller(): Promise<AuthenticatedCaller>
  /** X-Request-Id, sent or generated */
  readonly requestId: string
  /** header that carries its trace on (D169); null if requests are not traced */
  readonly traceparent: string | null
  readonly path: string
  readonly id: string
  /** the second id of a path that has two */
  readonly secondId: string
  /** unique field and value by which a path identifies a record */
  readonly field: string
  readonly value: string
  readonly query: Parameters
  readonly body: Json | undefined
  /** stream of an uploaded file */
  readonly upload: AsyncIterable<Uint8Array> | null
  /** charset of the body's media type */
  readonly charset: string | undefined
  readonly ifMatch: string | undefined
  /** set for a write with an Idempotency-Key (D8) */
  readonly idempotency: IdempotentRequest | null
  /** set for a request that an agent's tool makes (D148) */
  readonly agent?: AgentOrigin
  /** set inside a dry run */
  readonly isDry?: true
  readonly now: Date
  readonly client: Client
  /** true for HEAD: the response has headers only (RFC 9110 §9.3.2) */
  readonly isHead: boolean
  /** true if the client wants a stream of events; the last event that it knows */
  readonly wantsStream: boolean
  readonly lastEventId: number | null
  /** true if its answer may tell of a write, after which the caller's reads show it */
  readonly tellsSeq: boolean
  /** The `seq` of the last event that the client knows, 0 if it names none: no read is older (D172). */
  knownSeq(): number
  /** Releases its place in shared quotas: from now on it mostly waits. */
  release(): void
  /** Reserves memory for a part of a stream, as for an answer; see `Reservation`. */
  reserveAnswer(bytes: number): (() => void) | null
  /** aborted if the connection ends before the response */
  hungUp(): AbortSignal
}

/** A request that needs no caller, such as a sign-in. */
export type AnonymousRequest = {
  /** null without a token, or on a route that takes none */
  readonly caller: AuthenticatedCaller | null
  /** path and query */
  readonly url: string
  readonly query: Parameters
  readonly body: Json | undefined
  readonly client: Client
  /** true if a browser shows the response */
  readonly wantsPage: boolean
  /** aborted if the connection ends before the response */
  hungUp(): AbortSignal
}

/** A signal that is aborted if the connection ends before the response does. */
export function hangUpOf(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController()
  const closed = () => {
    if (!response.writableFinished) hangUp.abort()
  }
  if (response.destroyed) closed()
  else response.once('close', closed)
  return hangUp.signal
}

/** The id of a request: the one that was sent, if it is valid, else a new one. */
export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID()
}

/** The `seq` of the last event that the client of a stream has; null if it names none. */
export function lastEventIdOf(sent: string | string[] | undefined): number | null {
  return wholeOf(sent, 'Last-Event-ID must be the id of an event of the feed.')
}

/** The header by which answers tell the account's last `seq`, and requests name one. */
export const seqHeader = 'dealwright-seq'

/** The `seq` that a request names; 0 without one. */
export function seqOf(sent: string | string[] | undefined): number {
  return wholeOf(sent, 'Dealwright-Seq must be the seq of an event, a whole number.') ?? 0
}

function wholeOf(sent: string | string[] | undefined, message: string): number | null {
  if (sent === undefined || sent === '') return null
  if (typeof sent === 'string' && /^\d{1,15}$/.test(sent)) return Number(sent)
  throw new Refusal('malformed_request', message)
}

export function contextOf(request: ApiRequest): RequestWork['context'] {
  const { caller, idempotency, requestId, traceparent, agent, isDry } = request
  const more = { ...(agent ? { agent } : {}), ...(isDry ? { isDry } : {}) }
  return { ...caller, idempotency, requestId, traceparent, ...more }
}

/** The work of a request that writes to a resource. */
export function workOf(request: ApiRequest, db: Transaction, resource: string): RequestWork {
  return workOn(db, contextOf(request), resource)
}

/**
 * The Idempotency-Key of a request (D8), with a hash of `asked`, the parts that identify the request. Null
 * without a key.
 */
export function idempotencyOf(
  key: string | string[] | undefined,
  { actor }: Caller,
  asked: readonly (Json | undefined)[],
): IdempotentRequest | null {
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new Refusal(
      'malformed_request',
      'Idempotency-Key must have 1 to 255 printable ASCII characters without spaces, such as a UUID.',
    )
  }
  const hash = createHash('sha256')
    .update(JSON.stringify(asked.map(part => part ?? null)))
    .digest('hex')
  return { key: `${actor}:${key}`, hash, isReplayed: false }
}

export function schemaOf({ caller }: Pick<ApiRequest, 'caller'>, resource: string): ResourceSchema {
  return caller.catalog.resources.get(resource)!
}

/** The id in the path, a whole number. A number beyond all ids is not found (D3). */
export function idOf({ id }: Pick<ApiRequest, 'id'>): number {
  if (!/^\d{1,20}$/.test(id)) {
    const hint = /^(all|list|search|view)$/i.test(id) ? ' A list is at view/list.' : ''
    throw new Refusal('malformed_path', `"${id}" is not a record's id, which is a whole number.${hint}`)
  }
  const number = Number(id)
  if (number > Number.MAX_SAFE_INTEGER)
    throw new Refusal('record_not_found', `There is nothing with the id ${id}.`)
  return number
}

export function bodyOf({ body }: ApiRequest): Json {
  if (body === undefined)
    throw new Refusal('malformed_json', 'The request needs a JSON body: an object with its members.')
  return body
}

/** The object that a body is. Throws `validation_failed` with `detail`. */
export function objectOf(body: Json, detail: string): JsonObject {
  if (isObject(body)) return body
  const problem = problemAt('', 'wrong_type', 'The body must be an object.')
  throw new Refusal('validation_failed', detail, [problem])
}

/** The object that a body is, with known members only. Throws `validation_failed` with `detail`. */
export function knownMembersOf(
  body: Json,
  known: readonly string[],
  detail: string,
  hint?: string,
): JsonObject {
  const object = objectOf(body, detail)
  const problems = unknownMembers(object, known, hint)
  if (problems.count) throw new Refusal('validation_failed', detail, problems)
  return object
}

/** Unknown members of a body, as problems. `hint` says where they may be sent. */
export function unknownMembers(body: JsonObject, known: readonly string[], hint?: string): Problems {
  const problems = new Problems()
  for (const field of Object.keys(body)) {
    if (known.includes(field)) continue
    problems.add(
      () => ({
        ...{ field, path: `/${pointerStep(field)}`, code: 'unknown_field' },
        message: `There is no member "${field}". The members: ${known.join(', ')}.`,
      }),
      hint,
    )
  }
  return problems
}

/** The bytes of JSON text → value, numbers exact (D14). */
export function readJson(bytes: Buffer): Json | undefined {
  if (!isUtf8(bytes)) throw new Refusal('malformed_json', 'The body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  if (text.trim() === '') return undefined
  try {
    return parseExactly(text, bodyLimits)
  } catch (error) {
    if (error instanceof JsonLimitError)
      throw new Refusal('malformed_json', `The body is refused: ${error.message}.`)
    throw new Refusal('malformed_json', `The body is not valid JSON: ${(error as Error).message}.`)
  }
}

/** Limits of a body's JSON (D59). A request's work grows with its members rather than with its bytes. */
const bodyLimits = { levels: 32, items: 32_768 }

/**
 * The versions in If-Match (D7, RFC 9110 §13.1.1). Null without the header, or with `*`. A weak ETag names no
 * version.
 */
export function preconditionOf({ ifMatch }: Pick<ApiRequest, 'ifMatch'>): Precondition {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  const tags = [...ifMatch.matchAll(entityTag)]
  const isWhole = /^[\t ,]*$/.test(ifMatch.slice(tags.reduce((length, [text]) => length + text.length, 0)))
  if (tags.length === 0 || !isWhole) {
    const message = 'If-Match must be the ETag of what was read, such as "3", or several with commas between.'
    throw new Refusal('malformed_request', message)
  }
  // Only the version is compared: derived values may have changed, and compression makes an ETag weak.
  return tags.map(([, tag]) => tag!.replace(/\.[1-9]\d*$/, ''))
}

/** One ETag of a list; the sticky flag makes it begin where the one before it ended. */
const entityTag = /[\t ,]*(?:W\/)?"([!#-~\x80-\xff]*)"[\t ]*(?=,|$)/gy

/**
 * Refuses the conditions that a write doesn't judge, which would be ignored otherwise (D7). What has no
 * version, such as a new record, fails every If-Match (RFC 9110 §13.1.1).
 */
export function refuseConditions(headers: IncomingHttpHeaders, hasVersion: boolean): void {
  if (headers['if-none-match'] !== undefined || headers['if-unmodified-since'] !== undefined)
    throw new Refusal(
      'malformed_request',
      'A write takes neither If-None-Match nor If-Unmodified-Since: name the version in If-Match.',
    )
  const ifMatch = headers['if-match']
  if (hasVersion || ifMatch === undefined) return
  preconditionOf({ ifMatch })
  const message = 'There is no version here that If-Match could name; send the request without it.'
  throw new Refusal('version_conflict', message)
}
