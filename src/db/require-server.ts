/** What a PostgreSQL server must be for the service to start on it. Knows nothing of the schema. */
import type { Sql } from 'postgres'
import { StartupError } from './startup-error.ts'

const oldestServer = 15

/** Throws a StartupError that says what is wrong; what is merely a pity is told to `log`. */
export async function requireServer(sql: Sql, log: (line: string) => void): Promise<void> {
  const { host, port, database } = sql.options
  const where = `PostgreSQL at ${host.map((name, index) => `${name}:${port[index]}`).join(', ')}, database ${database}`
  let server: { version: string; encoding: string; umlaut: string }
  try {
    const text =
      "SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding, lower('Ä') AS umlaut"
    const [row] = await sql.unsafe<[typeof server]>(text)
    server = row
  } catch (error) {
    const reason = error instanceof Error ? error.message || String(Reflect.get(error, 'code')) : String(error)
    throw new StartupError(`${where}, cannot be used: ${reason}`, { cause: error })
  }
  if (Number.parseInt(server.version, 10) < oldestServer) {
    throw new StartupError(`${where}, is version ${server.version}; ${oldestServer} is the oldest that works`)
  }
  if (server.encoding !== 'UTF8') throw new StartupError(`${where}, has the encoding ${server.encoding}; it must be UTF8`)
  if (server.umlaut !== 'ä')
    log(`${where}, has a locale that knows upper and lower case of a to z only, and so does "like"; use C.UTF-8.`)
}
