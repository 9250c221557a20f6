/**
 * When the sending of a file ends early: with the rights of whoever asked for it, which it may outlive (D61,
 * D62), or when its client reads too slowly (D81).
 */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Refusal } from '../errors.ts'
import { interval } from '../waiting/interval.ts'

const lookAgainMs = 1000
/**
 * How much a client must take in that time, while there is something for it. The system's buffers take 1.5 MB
 * at once, and then nothing until the client has read as much. So whoever reads 16 kB a second is not cut
 * off, and whoever reads less than 4 is.
 */
const [leastBytes, withinMs] = [480_000, 120_000]

/**
 * Asks now and each second, while the file is sent, whether its caller still has their rights. Throws what
 * `askAgain` throws now. What it refuses later cuts the connection, so that nobody takes the part for the
 * whole; where it only fails, it is asked the next time. A client that reads too slowly by the `clock` is cut
 * off, too.
 */
export async function revalidateDownload(
  file: Readable,
  { raw: response, request }: FastifyReply,
  clock: () => number,
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
  const { socket } = request.raw
  // The least speed takes the place of the time limit of other answers, which counts the producer's time.
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
    // A reset also drops what the socket holds and has not sent.
    if (error instanceof Refusal) socket.resetAndDestroy()
  })
  response.once('close', () => void looking.stop())
}

/** Tells, whenever it is asked, whether the client has lately taken too little of what there was for it. */
function slowness(socket: Socket, clock: () => number): () => boolean {
  // What is on its way counts as not taken.
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
