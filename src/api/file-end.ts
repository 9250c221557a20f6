/** A file that is sent ends with the rights of whoever asked for it (D61, D62): it may outlive a token. */
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Refusal } from '../errors.ts'

const askAgainMs = 1000

/**
 * Asks now and each second, while the file is sent, whether its caller still has their rights. Throws what
 * `askAgain` throws now. What it refuses later cuts the connection, so that nobody takes the part for the
 * whole; where it only fails, it is asked the next time.
 */
export async function endWithCaller(
  file: Readable,
  { raw: response, request }: FastifyReply,
  askAgain: () => Promise<void>,
): Promise<void> {
  try {
    // Making the file may have taken long.
    await askAgain()
  } catch (error) {
    file.destroy()
    throw error
  }
  if (response.destroyed) return
  const asking = setInterval(async () => {
    try {
      await askAgain()
    } catch (error) {
      // A reset also drops what the socket holds and has not sent.
      if (error instanceof Refusal) request.raw.socket.resetAndDestroy()
    }
  }, askAgainMs)
  response.once('close', () => clearInterval(asking))
}
