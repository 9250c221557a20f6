/** Cancels a statement on a server, over a connection of its own. Knows no session. */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { cancel } from './wire.ts'

/**
 * Asks the server behind `connect` to cancel the running statement of the session of `key`. Resolves when the
 * session was signalled: then the server closes this connection (PostgreSQL, "Canceling Requests in
 * Progress").
 */
export async function sendCancel(
  connect: () => Duplex | Promise<Duplex>,
  key: Buffer | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!key) return
  const connection = await connect()
  const closed = once(connection, 'close', { signal })
  connection.resume().end(cancel(key))
  await closed.finally(() => connection.destroy())
}
