/** Checks that the service can run on a PostgreSQL server. Knows nothing of the schema. */
import type { Ask } from '../ask.ts'
import { StartupError } from '../startup-error.ts'

const oldestServer = 15

/** Throws a StartupError with the problem of the server at `where`. Logs mere disadvantages. */
export async function requireServer(ask: Ask, where: string, log: (line: string) => void): Promise<void> {
  let server: { version: string; encoding: string; letters: string; read_only: string }
  try {
    const text = `SELECT current_setting('server_version') AS version,
      current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') AS read_only,
      (SELECT datctype FROM pg_database WHERE datname = current_database()) AS letters`
    const [row] = await ask<[typeof server]>(text, [])
    server = row
  } catch (error) {
    throw new StartupError(`${where}, cannot be used: ${(error as Error).message}`, { cause: error })
  }
  if (Number.parseInt(server.version, 10) < oldestServer) {
    throw new StartupError(`${where}, is version ${server.version}; ${oldestServer} is the oldest that works`)
  }
  if (server.read_only !== 'off')
    throw new StartupError(
      `${where}, takes no writes: it is a replica, or default_transaction_read_only is on`,
    )
  if (server.encoding !== 'UTF8')
    throw new StartupError(`${where}, has the encoding ${server.encoding}; it must be UTF8`)
  // LC_CTYPE: by it pg_trgm tells letters from other characters.
  if (server.letters === 'C' || server.letters === 'POSIX')
    log(
      `${where}, has a locale that knows the letters a to z only, so "like" has no index for words in others; use C.UTF-8.`,
    )
}
