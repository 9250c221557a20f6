/** Asks a server to end a statement, over a connection of its own. Knows no session. */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { cancel } from './wire.ts'

/**
 * Asks the server behind `connect` to end what the session of `key` carries out. Resolves when the session
 * was told: then the server closes this connection (PostgreSQL, "Canceling Requests in Progress").
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
