/**
 * Ends a download early: when the rights of its caller end, which it may outlive (D61, D62), or when its
 * client reads too slowly (D81).
 */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Refusal } from '../errors.ts'
import { interval } from '../waiting/interval.ts'

const lookAgainMs = 1000
/**
 * Minimum of bytes that a client must read in that time, while some are pending. The system's buffers take
 * 1.5 MB at once, and then nothing until the client has read as much. So a client that reads 16 kB a second
 * is not cut off, and one that reads less than 4 is.
 */
const [leastBytes, withinMs] = [480_000, 120_000]

/**
 * Checks the caller's rights now, and each second while the file is sent. Throws the errors of the first
 * `askAgain`. A later refusal resets the connection, so that no partial file passes for a whole one; other
 * errors are ignored until the next check. A client that reads too slowly by `clock` is cut off, too.
 */
export async function revalidateDownload(
  file: Readable,
  { raw: response, request }: FastifyReply,
  clock: () => number,
  askAgain: () => Promise<void>,
): Promise<void> {
  try {
    // Building the file may have taken long.
    await askAgain()
  } catch (error) {
    file.destroy()
    throw error
  }
  if (response.destroyed) return
  const { socket } = request.raw
  // The minimum speed replaces the timeout of other responses, which would include the producer's time.
  response.on('timeout', () => {})
  const isTooSlow = slowness(socket, clock)
  const look = async () => {
    if (!isTooSlow()) return askAgain()
    request.log.warn(
      `The download of ${request.url.split('?', 1)[0]} was ended: its client reads too slowly.`,
    )
    socket.resetAndDestroy()
  }
  const looking = interval(lookAgainMs, look, error => {
    // A reset also discards unsent bytes of the socket.
    if (error instanceof Refusal) socket.resetAndDestroy()
  })
  response.once('close', () => void looking.stop())
}

/** A function that tells if the client has lately read too little of the pending bytes. */
function slowness(socket: Socket, clock: () => number): () => boolean {
  // Bytes in flight count as unread.
  const taken = () => socket.bytesWritten - socket.writableLength
  let since = clock()
  let before = taken()
  return () => {
    const [now, bytes] = [clock(), taken()]
    const isInTime = now - since < withinMs
    if (socket.writableLength > 0 && isInTime) return false
    if (socket.writableLength > 0 && bytes - before < leastBytes) return true
    since = now
    before = bytes
    return false
  }
}
