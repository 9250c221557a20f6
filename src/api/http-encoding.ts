/**
 * How an answer goes over the network (D89): not at all, where the client has it already, and compressed
 * where the client asks for that. Knows no route.
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { Answer } from './answer.ts'

/** Less is not worth it: a packet holds that much. */
const worthCompressing = 1024
/** What is longer is sent piece by piece: to put it together would hold up everything else. */
const pieceBytes = 256 * 1024
const brotli = promisify(brotliCompress)
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

type Coding = {
  readonly whole: (body: string | Buffer) => Promise<Buffer>
  readonly stream: () => Transform
}
const codings: { readonly [name: string]: Coding } = {
  br: { whole: body => brotli(body, quickly), stream: () => createBrotliCompress(quickly) },
  gzip: { whole: promisify<string | Buffer, Buffer>(gzip), stream: createGzip },
}

type Pieces = readonly Uint8Array[]

/** An answer in the form in which it is sent. */
type Encoded = Answer & { readonly body: string | Buffer | Readable }

/** What a request says about the answer that it wants. */
export type Wanted = {
  readonly method: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** The answer as this client gets it. `vary` is what the answer varies by besides. */
export async function encoded(answer: Answer, { method, headers }: Wanted, vary: string): Promise<Encoded> {
  const { 'if-none-match': known, 'accept-encoding': accepted } = headers
  const isRead = method === 'GET' || method === 'HEAD'
  if (known && isRead && isKnown(answer, String(known))) return { ...answer, status: 304, body: '' }
  return streamed(accepted ? await compressed(joined(answer), String(accepted), vary) : joined(answer))
}

/** Pieces that are short all together become one. */
function joined(answer: Answer): Answer {
  const { body } = answer
  return !isInPieces(body) || lengthOf(body) > pieceBytes ? answer : { ...answer, body: Buffer.concat(body) }
}

/** Pieces that are long all together become a stream, whose length is known. */
function streamed(answer: Answer): Encoded {
  const { body, headers } = answer
  if (!isInPieces(body)) return { ...answer, body }
  const length = { 'content-length': String(lengthOf(body)) }
  return { ...answer, headers: { ...headers, ...length }, body: streamOf(body) }
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

/** The same bytes in pieces that are neither too long for one turn of the event loop nor very many. */
function* ofOneSize(pieces: Pieces): Generator<Uint8Array> {
  let gathered: Uint8Array[] = []
  for (const long of pieces)
    for (let at = 0; at < long.length; at += pieceBytes) {
      const piece = long.subarray(at, at + pieceBytes)
      if (lengthOf(gathered) + piece.length > pieceBytes) {
        yield Buffer.concat(gathered)
        gathered = []
      }
      gathered.push(piece)
    }
  yield Buffer.concat(gathered)
}

/** Whether the client names the answer's tag (RFC 9110 §13.1.2): a weak one will do. */
function isKnown({ status, headers = {} }: Answer, known: string): boolean {
  const { etag } = headers
  if (status !== 200 || typeof etag !== 'string') return false
  return known.trim() === '*' || known.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}

async function compressed(answer: Answer, accepted: string, vary: string): Promise<Answer> {
  const { body, headers } = answer
  if (body instanceof Readable || (!isInPieces(body) && body.length < worthCompressing)) return answer
  const coding = codingOf(accepted)
  const etag = headers?.etag
  return {
    ...answer,
    body: coding ? await inCoding(codings[coding]!, body) : body,
    headers: {
      ...headers,
      vary: vary ? `${vary}, accept-encoding` : 'accept-encoding',
      // The bytes depend on the compression, so the tag is a weak one (RFC 9110 §8.8.1).
      ...(coding && { 'content-encoding': coding, ...(typeof etag === 'string' && { etag: `W/${etag}` }) }),
    },
  }
}

function inCoding({ whole, stream }: Coding, body: string | Buffer | Pieces): Promise<Buffer> | Readable {
  // A stream that fails, or is left by its client, ends the other; nobody else has to know.
  return isInPieces(body) ? pipeline(streamOf(body), stream(), () => {}) : whole(body)
}

/** The coding that Accept-Encoding likes best (RFC 9110 §12.5.3), of equal ones the smaller; or undefined. */
function codingOf(accepted: string): string | undefined {
  const weights = new Map(
    accepted.split(',', 20).map(part => {
      const [name = '', weight = ''] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/)
      return [name, weight === '' ? 1 : Number(weight) || 0]
    }),
  )
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  const [best] = Object.keys(codings).sort((one, other) => weightOf(other) - weightOf(one))
  return weightOf(best!) > 0 ? best : undefined
}
