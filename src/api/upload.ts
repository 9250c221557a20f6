/** A file that is the body of a request (D80): how large it may be, and how long it may take to arrive. */
import type { Readable } from 'node:stream'
import { Refusal } from '../errors.ts'
import { within } from '../waiting/timeout.ts'

/** The largest file, in bytes. */
const bytesMax = 2_147_483_648
/** How long a file may take, also where it comes all the time. */
const wholeMs = 7_200_000

/**
 * The bytes of a file as they come. It may take longer than other requests, but something has to come within
 * `idleMs`; how long whoever reads it takes does not count. Throws `body_too_large`, `request_timeout`, and
 * `malformed_request` where the client leaves. The client can be answered after each of these but the last.
 */
export async function* arriving(body: Readable, idleMs: number): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false })
  const until = performance.now() + wholeMs
  for (let bytes = 0; ; ) {
    const leftMs = Math.min(idleMs, until - performance.now())
    const next = await within(chunks.next(), leftMs, tooLate).catch(error => {
      // The client left: that is no fault of the service.
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
