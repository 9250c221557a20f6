/**
 * Connection draining before a stop. A connection that is closed just when its client sends costs the
 * request, so an answer first says to each client that it is the last one on its connection (RFC 9112,
 * section 9.6).
 */
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FastifyInstance } from 'fastify'

/** How long clients have to send another request, in milliseconds; event streams send none. */
const drainMs = 500

/** A function that drains the connections of `app`, and resolves when none is open, or the time is over. */
export function drainOf(app: FastifyInstance): () => Promise<void> {
  let isDraining = false
  app.addHook('onRequest', async (_request, reply) => {
    if (isDraining) reply.header('connection', 'close')
  })
  const connections = promisify<number>(done =>
    app.server.getConnections((error, count) => done(error, count)),
  )
  return async () => {
    isDraining = true
    const end = performance.now() + drainMs
    while (performance.now() < end && (await connections()) > 0) await delay(10)
  }
}
