/**
 * What handlers get, read from HTTP: the caller, the parameters, the body. A reader refuses what it can't
 * read.
 */
import { isUtf8 } from 'node:buffer'
import { createHash, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Caller } from '../accounts/callers.ts'
import { Problems, Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { type Json, JsonLimitError, type JsonObject, parseExactly, pointerStep } from '../json.ts'
import type { Parameters } from '../list/parameters.ts'
import type { IdempotentRequest } from '../records/idempotency.ts'
import type { Precondition } from '../records/precondition.ts'
import type { Context } from '../records/save.ts'
import type { Viewer } from '../rights/visibility.ts'
import type { Visitor } from './visitor.ts'

export type ApiRequest = {
  readonly caller: Caller
  /** the caller's secret; never to be logged */
  readonly token: string
  /** The caller as the database knows them now. Throws where they may no longer do this. */
  latestCaller(): Promise<Caller>
  /** the X-Request-Id, sent or made */
  readonly requestId: string
  readonly path: string
  readonly id: string
  /** the second id of a path that has two */
  readonly option: string
  /** the unique field and its value by which a path tells a record */
  readonly field: string
  readonly value: string
  readonly query: Parameters
  readonly body: Json | undefined
  /** the bytes of a body that is a file, as they come */
  readonly upload: AsyncIterable<Uint8Array> | null
  /** the encoding of the body, where its media type says one */
  readonly charset: string | undefined
  readonly ifMatch: string | undefined
  /** set for a write with an Idempotency-Key (D8) */
  readonly idempotency: IdempotentRequest | null
  /** set for what a dry run carries out */
  readonly isDry?: true
  readonly now: Date
  readonly visitor: Visitor
  /** whether the answer has its headers alone (RFC 9110 §9.3.2) */
  readonly isHead: boolean
  /** whether it asks for a stream of events, and the last of them that it knows */
  readonly wantsStream: boolean
  readonly lastEventId: number | null
  /** Gives back what it holds of what requests share: from now on it mostly waits. */
  release(): void
  /** aborted when its connection ends before it is answered */
  hungUp(): AbortSignal
}

/** A request of somebody who need not be known, and may be about to sign in. */
export type GuestRequest = {
  /** null without a token, or where none is taken */
  readonly caller: Caller | null
  /** with its query */
  readonly url: string
  readonly query: Parameters
  readonly body: Json | undefined
  readonly visitor: Visitor
  /** whether a browser shows the answer to somebody */
  readonly wantsPage: boolean
}

/** A signal that is aborted when the connection of an answer ends before the answer does. */
export function hangUpOf(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController()
  const closed = () => {
    if (!response.writableFinished) hangUp.abort()
  }
  if (response.destroyed) closed()
  else response.once('close', closed)
  return hangUp.signal
}

/** The id of a request: the one that was sent, where it can be one, or a new one. */
export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID()
}

/** The `seq` of the last event that the client of a stream knows; null where it names none. */
export function lastEventIdOf(sent: string | string[] | undefined): number | null {
  if (sent === undefined || sent === '') return null
  if (typeof sent === 'string' && /^\d{1,15}$/.test(sent)) return Number(sent)
  throw new Refusal('malformed_request', 'Last-Event-ID must be the id of an event of the feed.')
}

export function contextOf({ caller, idempotency, requestId, isDry }: ApiRequest): Context {
  return { ...caller, idempotency, requestId, ...(isDry ? { isDry } : {}) }
}

/**
 * The Idempotency-Key of a request (D8), with a hash of `asked`, which is everything that makes it this
 * request. Null without a key.
 */
export function idempotencyOf(
  key: string | string[] | undefined,
  { actor }: Viewer,
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

export function fieldsOf({ caller }: Pick<ApiRequest, 'caller'>, resource: string): ResourceFields {
  return caller.catalog.resources.get(resource)!
}

/** The id in the path: a whole number. A number that no record can have is nobody's (D3). */
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

/** The members of a body that there are not, as problems. `hint` says where they may be sent. */
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

/** Limits of a body's JSON (D59). The work of a request grows with its members more than with its bytes. */
const bodyLimits = { levels: 32, items: 32_768 }

/**
 * The versions that If-Match names (D7, RFC 9110 §13.1.1). Null without it or with `*`. A weak tag names no
 * version.
 */
export function preconditionOf({ ifMatch }: Pick<ApiRequest, 'ifMatch'>): Precondition {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  const tags = [...ifMatch.matchAll(entityTag)]
  const isWhole = /^[\t ,]*$/.test(ifMatch.slice(tags.reduce((length, [text]) => length + text.length, 0)))
  if (tags.length === 0 || !isWhole) {
    throw new Refusal(
      'malformed_request',
      'If-Match must be the ETag of what was read, such as "3", or several with commas between.',
    )
  }
  // The version alone is compared: derived values may have moved, and compression makes a tag weak.
  return tags.map(([, tag]) => tag!.replace(/\.[1-9]\d*$/, ''))
}

/** One tag of a list; `y` makes it begin where the tag before it ended. */
const entityTag = /[\t ,]*(?:W\/)?"([!#-~\x80-\xff]*)"[\t ]*(?=,|$)/gy

/** What has no version, such as a new record, can meet no If-Match (RFC 9110 §13.1.1). */
export function refuseIfMatch(request: Pick<ApiRequest, 'ifMatch'>): void {
  preconditionOf(request)
  if (request.ifMatch === undefined) return
  throw new Refusal(
    'version_conflict',
    'There is no version here that If-Match could name; send the request without it.',
  )
}
