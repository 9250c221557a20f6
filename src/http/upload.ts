/** An upload in a request's body (D80): its maximum size and time. */
import type { Readable } from 'node:stream'
import { Refusal } from '../errors.ts'
import { within } from '../waiting/timeout.ts'

/** Maximum size of a file, in bytes. */
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

function tooLate(): never {
  throw new Refusal('request_timeout', 'The rest of the file did not arrive in time.')
}
