/**
 * Reads the body of a request, or an upload (D80), within its limits. Takes little more memory than the bytes
 * that have arrived.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import { within } from '../waiting/timeout.ts'

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export type BodyLimit = {
  readonly bytes: number
  /** the error for a larger body */
  refusal(): Refusal
}

/** The limit for every body. Its refusal is `body_too_large`. */
export function bodyLimit(bytes: number): BodyLimit {
  const message = `The body is larger than the ${bytes} bytes that the service takes.`
  return { bytes, refusal: () => new Refusal('body_too_large', message) }
}

/**
 * Reads the bytes of a body. Calls `reserveBytes` before each allocation; it may throw. Throws the limit's
 * refusal, `unsupported_media_type` or `malformed_request`. A body whose declared length is too large is not
 * read at all.
 */
export async function readBody(
  request: IncomingMessage,
  limit: BodyLimit,
  reserveBytes: (bytes: number) => void,
): Promise<Buffer> {
  const { headers } = request
  if (Number(headers['content-length'] ?? 0) > limit.bytes) throw limit.refusal()
  refuseOtherThanUtf8(headers)
  const collected = collect(limit, reserveBytes)
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      try {
        collected.add(chunk)
      } catch (error) {
        request.off('data', take).pause()
        reject(error)
      }
    }
    const cut = () => reject(new Refusal('malformed_request', 'The request ended before its body did.'))
    // The client may have left during the look-up of its token.
    if (request.destroyed) return cut()
    request
      .on('data', take)
      .on('end', () => {
        // `close` follows `end`, too; detaching saves the cost of building a refusal.
        request.off('close', cut)
        resolve(collected.bytes())
      })
      .on('error', cut)
      .on('close', cut)
  })
}

type BodyBuffer = { add(chunk: Buffer): void; bytes(): Buffer }

/**
 * Collects a body in one growing buffer. If each chunk were kept, a body sent byte by byte would take a
 * hundred times its size.
 */
function collect(limit: BodyLimit, reserveBytes: (bytes: number) => void): BodyBuffer {
  let memory = Buffer.alloc(0)
  let length = 0
  return {
    add(chunk) {
      const end = length + chunk.length
      if (end > limit.bytes) throw limit.refusal()
      if (end > memory.length) {
        const larger = Buffer.allocUnsafe(Math.max(end, Math.min(2 * memory.length, limit.bytes)))
        reserveBytes(larger.length - memory.length)
        memory.copy(larger, 0, 0, length)
        memory = larger
      }
      chunk.copy(memory, length)
      length = end
    },
    bytes: () => memory.subarray(0, length),
  }
}

/** The charset of a body's media type. Two that differ make one that nobody knows. */
export function charsetOf(headers: IncomingHttpHeaders): string | undefined {
  const all = (headers['content-type'] ?? '').matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)
  const charsets = new Set([...all].map(([, charset]) => charset!.toLowerCase()))
  return charsets.size ? [...charsets].join(' and ') : undefined
}

/** Throws `unsupported_media_type` for a compressed upload. */
export function refuseCompressed(headers: IncomingHttpHeaders): void {
  if (isCompressed(headers))
    throw new Refusal('unsupported_media_type', 'Send the file without compression (Content-Encoding).')
}

function isCompressed(headers: IncomingHttpHeaders): boolean {
  return (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity'
}

function refuseOtherThanUtf8(headers: IncomingHttpHeaders): void {
  const charset = charsetOf(headers) ?? 'utf-8'
  if (/^utf-?8$/i.test(charset) && !isCompressed(headers)) return
  throw new Refusal('unsupported_media_type', 'Send the body as JSON in UTF-8, without compression.')
}

const bytesMax = 2_147_483_648
/** Maximum duration of an upload, in milliseconds, even if bytes keep coming. */
const wholeMs = 7_200_000

/**
 * The bytes of a file as they arrive. It may take longer than other requests, but some bytes must arrive
 * every `idleMs`; time that the consumer takes does not count. Throws `body_too_large`, `request_timeout`,
 * and `malformed_request` if the client leaves. After all but the last a response can be sent.
 */
export async function* arriving(body: Readable, idleMs: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false })
  const until = performance.now() + wholeMs
  for (let bytes = 0; ; ) {
    const leftMs = Math.min(idleMs, until - performance.now())
    const next = await within(chunks.next(), leftMs, tooLate).catch(error => {
      // The client left: no fault of the service.
      if (error !== body.errored) throw error
      throw new Refusal('malformed_request', 'The request ended before its body did.')
    })
    if (next.done) return
    bytes += next.value.length
    if (bytes > bytesMax)
      throw new Refusal(
        'body_too_large',
        `The file is larger than the ${bytesMax} bytes that the service takes.`,
      )
    yield next.value
  }
}

async function tooLate(): Promise<never> {
  // After a pause of this process, the bytes that came meanwhile are read first.
  await turnOfLoop()
  throw new Refusal('request_timeout', 'The rest of the file did not arrive in time.')
}
