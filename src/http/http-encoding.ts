/** Conditional requests and compression of responses (D89). Knows no route. */
import { pipeline, Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { Answer } from './answer.ts'

/** Smaller bodies fit into one packet. */
const worthCompressing = 1024
/** Longer bodies are streamed in pieces: concatenation would block the event loop. */
const pieceBytes = 256 * 1024
const brotli = promisify(brotliCompress)
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

type Coding = { readonly whole: (body: string | Buffer) => Promise<Buffer>; readonly stream: () => Transform }
const codings: { readonly [name: string]: Coding } = {
  br: { whole: body => brotli(body, quickly), stream: () => createBrotliCompress(quickly) },
  gzip: { whole: promisify<string | Buffer, Buffer>(gzip), stream: createGzip },
}

type Pieces = readonly Uint8Array[]

/** A response in the form in which it is sent. */
type Encoded = Answer & { readonly body: string | Buffer | Readable }

/** The part of a request that negotiates its response. */
export type RequestHead = {
  readonly method: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** The response for this client. `vary`: the other headers by which it varies. */
export async function encoded(
  answer: Answer,
  { method, headers }: RequestHead,
  vary: string,
): Promise<Encoded> {
  const { 'if-none-match': known, 'accept-encoding': accepted } = headers
  const isRead = method === 'GET' || method === 'HEAD'
  const whole = joined(answer)
  const coding = accepted && isCompressible(whole) ? codingOf(String(accepted)) : undefined
  // A 304 has the headers that its 200 would have (RFC 9110 §15.4.5).
  const told = accepted && isCompressible(whole) ? withCoding(whole, coding, vary) : whole
  if (known && isRead && isKnown(answer, String(known))) return { ...told, status: 304, body: '' }
  return streamed(coding ? await compressed(told, coding) : told)
}

/** Concatenates pieces that are short in total. */
function joined(answer: Answer): Answer {
  const { body } = answer
  return !isInPieces(body) || lengthOf(body) > pieceBytes ? answer : { ...answer, body: Buffer.concat(body) }
}

/** Turns pieces that are long in total into a stream of known length. */
function streamed(answer: Answer): Encoded {
  const { body, headers } = answer
  if (!isInPieces(body)) return { ...answer, body }
  const length = { 'content-length': String(lengthOf(body)) }
  return { ...answer, headers: { ...headers, ...length }, body: streamOf(body) }
}

/** In bytes; in characters of a text. */
export function sizeOf(body: Exclude<Answer['body'], Readable>): number {
  return isInPieces(body) ? lengthOf(body) : body.length
}

function isInPieces(body: Answer['body']): body is Pieces {
  return Array.isArray(body)
}

function lengthOf(pieces: Pieces): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

function streamOf(pieces: Pieces): Readable {
  return Readable.from(ofOneSize(pieces), { objectMode: false })
}

/** Regroups bytes into pieces that neither block the event loop for long nor are very many. */
function* ofOneSize(pieces: Pieces): Generator<Uint8Array> {
  let gathered: Uint8Array[] = []
  let length = 0
  for (const long of pieces)
    for (let at = 0; at < long.length; at += pieceBytes) {
      const piece = long.subarray(at, at + pieceBytes)
      if (length + piece.length > pieceBytes) {
        yield Buffer.concat(gathered)
        gathered = []
        length = 0
      }
      gathered.push(piece)
      length += piece.length
    }
  yield Buffer.concat(gathered)
}

/** True if If-None-Match names the response's ETag (RFC 9110 §13.1.2); comparison is weak. */
function isKnown({ status, headers = {} }: Answer, known: string): boolean {
  const { etag } = headers
  if (status !== 200 || typeof etag !== 'string') return false
  return known.trim() === '*' || known.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}

function isCompressible({ body }: Answer): boolean {
  return !(body instanceof Readable) && (isInPieces(body) || body.length >= worthCompressing)
}

/** The headers of a response that varies by its coding; undefined: it has none. */
function withCoding(answer: Answer, coding: string | undefined, vary: string): Answer {
  const { headers } = answer
  const etag = headers?.etag
  return {
    ...answer,
    headers: {
      ...headers,
      vary: vary ? `${vary}, accept-encoding` : 'accept-encoding',
      // The bytes depend on the compression, so the ETag is weak (RFC 9110 §8.8.1).
      ...(coding && typeof etag === 'string' && { etag: `W/${etag}` }),
    },
  }
}

async function compressed(answer: Answer, coding: string): Promise<Answer> {
  const { body, headers } = answer
  return {
    ...answer,
    body: await inCoding(codings[coding]!, body as Exclude<Answer['body'], Readable>),
    headers: { ...headers, 'content-encoding': coding },
  }
}

function inCoding({ whole, stream }: Coding, body: string | Buffer | Pieces): Promise<Buffer> | Readable {
  // `pipeline` destroys both streams if one fails or the client leaves; the error needs no handler.
  return isInPieces(body) ? pipeline(streamOf(body), stream(), () => {}) : whole(body)
}

/**
 * The preferred coding of Accept-Encoding (RFC 9110 §12.5.3), the smaller one of equals; undefined if none.
 */
function codingOf(accepted: string): string | undefined {
  const weights = weightsOf(accepted.split(',', 20))
  const weightOf = (name: string) => (weights.get(name) ?? weights.get('*')) || 0
  const [best] = Object.keys(codings).sort((one, other) => weightOf(other) - weightOf(one))
  return weightOf(best!) > 0 ? best : undefined
}

/** Parts of a header such as Accept → their weights (RFC 9110 §12.4.2): 1 by default, NaN if malformed. */
export function weightsOf(parts: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    parts.map(part => {
      const [name = '', ...parameters] = part.split(';').map(piece => piece.trim().toLowerCase())
      const weight = parameters.flatMap(one => /^q\s*=\s*(\S.*)$/.exec(one)?.[1] ?? [])[0]
      return [name, weight === undefined ? 1 : Number(weight)]
    }),
  )
}
